import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";

/** One bar of performance.md: ours against an anchor that was measured in the same interleaved run. */
export interface Measurement {
  readonly metric: string;
  readonly unit: string;
  readonly ours: number;
  readonly anchor: number;
  readonly anchorName: string;
  /** How `ratio` is read: `ours/anchor` for times and sizes, `anchor/ours` for speeds. */
  readonly ratio: number;
  /** `<= 4` or `>= 1.4`; without one the row is there to be read beside the others. */
  readonly bar?: { readonly kind: "at-most" | "at-least"; readonly value: number };
}

export interface Benchmark {
  readonly name: string;
  run(): Promise<readonly Measurement[]>;
}

export function passes({ ratio, bar }: Measurement): boolean {
  if (bar === undefined) return true;
  return bar.kind === "at-most" ? ratio <= bar.value : ratio >= bar.value;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** A table for the terminal. */
export function measurementTable(measurements: readonly Measurement[]): string {
  const rows = measurements.map((m) => [
    m.metric,
    `${round(m.ours)} ${m.unit}`,
    `${round(m.anchor)} ${m.unit} (${m.anchorName})`,
    m.ratio.toFixed(2),
    m.bar === undefined ? "-" : `${m.bar.kind === "at-most" ? "<=" : ">="} ${m.bar.value}`,
    m.bar === undefined ? "-" : passes(m) ? "pass" : "FAIL",
  ]);
  const all = [["metric", "ours", "anchor", "ratio", "bar", "pass"], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ")).join("\n");
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toPrecision(3);
}

/** The results as JSON beside the benchmarks, one file a benchmark. */
export function writeResults(name: string, measurements: readonly Measurement[]): string {
  const folder = fileURLToPath(new URL("results/", import.meta.url));
  mkdirSync(folder, { recursive: true });
  const path = `${folder}${name}.json`;
  const results = measurements.map((m) => ({ ...m, pass: passes(m) }));
  writeFileSync(path, `${JSON.stringify({ name, node: process.version, cpus: cpus().length, results }, null, 2)}\n`);
  return path;
}
