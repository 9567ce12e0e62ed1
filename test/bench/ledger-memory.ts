import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Measurement } from "./measurement.js";

const ALLOCATIONS = 1_000_000;
const BYTES_MAX = 300;

/** A process of its own for each side, so that no garbage of another benchmark counts. */
export async function measureMemory(): Promise<readonly Measurement[]> {
  const [idle, full] = [await residentBytes(0), await residentBytes(ALLOCATIONS)];
  const each = (full - idle) / ALLOCATIONS;
  return [
    {
      metric: "memory of 1,000,000 allocations, each over the idle process",
      unit: "bytes",
      ours: each,
      anchor: 1,
      anchorName: "one byte",
      ratio: each,
      bar: { kind: "at-most", value: BYTES_MAX },
    },
  ];
}

async function residentBytes(allocations: number): Promise<number> {
  const program = fileURLToPath(new URL("ledger-memory-program.ts", import.meta.url));
  const args = ["--expose-gc", "--max-old-space-size=8192", "--import", "tsx", program, String(allocations)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}
