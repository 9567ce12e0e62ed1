import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildProgram } from "./build-program.js";

/** Nanoseconds between an append and the moment a reader has it; the anchor is a C program with inotify and pread. */
export interface AppendRound {
  readonly ours: AppendLatency;
  readonly anchor: AppendLatency;
}

export interface AppendLatency {
  readonly p50: number;
  readonly p95: number;
  /** Appends that the reader never told. */
  readonly lost: number;
}

export interface AppendOptions {
  /** Appends that are measured; as many again come first and are not. */
  readonly appends: number;
  /** Blocks in the file before: a rack has some. */
  readonly blocks: number;
  /** The file is rewritten after every so many appends; 0 for never. */
  readonly rewriteEvery: number;
}

const GAP_US = 4_000;
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** One interleaved round: the anchor, then ours, on files of their own. */
export async function measureAppendRound(options: AppendOptions): Promise<AppendRound> {
  const directory = mkdtempSync(join(tmpdir(), "berth-append-"));
  try {
    const program = join(directory, "leases-append");
    await finished(spawn("gcc", ["-O2", "-o", program, here("leases-append.c")], { stdio: "inherit" }));
    const count = String(2 * options.appends);
    const watch = (file: string): readonly string[] => [program, "watch", file, count];
    const follower = join(directory, "follow.mjs");
    await buildProgram(here("leases-append-follow.ts"), follower);
    const follow = (file: string): readonly string[] => [process.execPath, follower, file, count];
    const anchor = await measure(join(directory, "anchor"), watch, { ...options, program });
    const ours = await measure(join(directory, "ours"), follow, { ...options, program });
    return { anchor, ours };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function measure(
  place: string,
  readerOf: (file: string) => readonly string[],
  options: AppendOptions & { readonly program: string },
): Promise<AppendLatency> {
  const directory = mkdtempSync(`${place}-`);
  const file = join(directory, "dhcpd.leases");
  writeFileSync(file, Array.from({ length: options.blocks }, (_, n) => block(n)).join(""));
  const [command = "", ...args] = readerOf(file);
  const reader = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  reader.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await ready(reader);
  const count = 2 * options.appends;
  await finished(spawn(options.program, ["write", file, String(count), String(GAP_US), String(options.rewriteEvery)]));
  // The last append may be on its way; a reader that has lost one waits for it for ever.
  const timer = setTimeout(() => reader.kill("SIGTERM"), 3_000);
  await once(reader, "close");
  clearTimeout(timer);
  const all = printed.split("\n").filter(Boolean).map(Number);
  const sorted = all.slice(-options.appends).toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), lost: count - all.length };
}

async function ready(reader: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    let text = "";
    reader.stderr?.setEncoding("utf8").on("data", (part: string) => {
      text += part;
      if (text.includes("ready\n")) resolve();
    });
    reader.once("exit", (status) => reject(new Error(`the reader ended with ${status}: ${text}`)));
  });
}

async function finished(child: ChildProcess): Promise<void> {
  const [status] = (await once(child, "exit")) as [number | null];
  if (status !== 0) throw new Error(`${child.spawnargs.join(" ")} ended with ${status}`);
}

function block(n: number): string {
  const hex = (value: number): string => value.toString(16).padStart(2, "0");
  return `lease 10.67.${Math.floor(n / 250)}.${(n % 250) + 1} {
  starts 4 2026/11/26 00:00:00;
  ends 4 2037/12/31 00:00:00;
  cltt 4 2026/11/26 00:00:00;
  binding state active;
  next binding state free;
  rewind binding state free;
  hardware ethernet 02:54:00:00:${hex(n >> 8)}:${hex(n & 255)};
  client-hostname "node-${n}";
}
`;
}
