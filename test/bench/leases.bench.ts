import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildProgram } from "./build-program.js";
import { appendMeasurements } from "./leases-append-rows.js";
import { writeLeasesFile } from "./leases-file.js";
import { median, type Benchmark, type Measurement } from "./measurement.js";

const BLOCKS = 1_000_000;
const ROUNDS = 7;
const READ_PROGRAM = fileURLToPath(new URL("leases-read.ts", import.meta.url));

/** Bars of performance.md by number of distinct addresses; `leases-read.ts` is built to one file first, as the agent is shipped. */
const SHAPES = [
  { addresses: 65_536, bar: 1.4 },
  { addresses: 16_384, bar: 0.8 },
  { addresses: 400_000, bar: 2.0 },
] as const;

interface ReadOutcome {
  readonly leases: number;
  readonly readMs: number;
  readonly cpuMs: number;
  readonly peakKib: number;
  readonly idleKib: number;
}

/** Full reads against `dhcpd-pools` and `grep -c ^lease`, and the memory they take. */
export const benchmark: Benchmark = {
  name: "leases",
  async run() {
    const folder = mkdtempSync(join(tmpdir(), "berth-bench-leases-"));
    try {
      requireProgram("dhcpd-pools");
      const program = join(folder, "leases-read.mjs");
      await buildProgram(READ_PROGRAM, program);
      const config = join(folder, "dhcpd.conf");
      writeFileSync(config, "subnet 10.0.0.0 netmask 255.0.0.0 {\n  range 10.0.0.0 10.7.255.255;\n}\n");
      const measurements: Measurement[] = [];
      for (const { addresses, bar } of SHAPES) {
        const path = join(folder, `${addresses}.leases`);
        writeLeasesFile({ path, blocks: BLOCKS, addresses, seed: 7 });
        measurements.push(...measureShape({ path, addresses, bar, program, config }));
        if (addresses === 65_536) measurements.push(...measureMemory({ path, addresses, program, folder }));
        rmSync(path);
      }
      measurements.push(...(await appendMeasurements()));
      return measurements;
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

interface Shape {
  readonly path: string;
  readonly addresses: number;
  readonly bar: number;
  readonly program: string;
  readonly config: string;
}

/** What one round took, in milliseconds. */
interface Round {
  readonly ours: ReadOutcome;
  readonly whole: number;
  readonly pools: AnchorTimes;
  readonly grep: AnchorTimes;
}

/**
 * One after the other in every round, and ratios are taken within a round, so that a busy minute of the machine meets all of them alike. Processor time of all threads
 * is shown too, without a bar: on a machine with other work it says more than the clock, though ours has the compiler's in it.
 */
function measureShape({ path, addresses, bar, program, config }: Shape): Measurement[] {
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const started = performance.now();
    const ours = readOnce(program, path, addresses);
    const whole = performance.now() - started;
    const pools = runAnchor("dhcpd-pools", ["-c", config, "-l", path]);
    rounds.push({ ours, whole, pools, grep: runAnchor("grep", ["-c", "^lease", path]) });
  }
  const pools = (metric: string, least: number | null, pick: (round: Round) => readonly [number, number]): Measurement => {
    const [ours, anchor] = [0, 1].map((side) => median(rounds.map((round) => pick(round)[side] ?? 0)) / 1000) as [number, number];
    const ratio = median(rounds.map((round) => pick(round)[1] / pick(round)[0]));
    return {
      metric,
      unit: "s",
      ours,
      anchor,
      anchorName: "dhcpd-pools",
      ratio,
      ...(least !== null && { bar: { kind: "at-least", value: least } }),
    };
  };
  const rows = [
    pools(`full read, ${addresses} distinct`, bar, ({ ours, pools: anchor }) => [ours.readMs, anchor.wallMs]),
    pools("the same, processor time", null, ({ ours, pools: anchor }) => [ours.cpuMs, anchor.cpuMs]),
  ];
  if (addresses !== 65_536) return rows;
  const counted = median(rounds.map(({ grep }) => grep.wallMs)) / 1000;
  return [
    ...rows,
    pools("the same, with the start of node", 1, ({ whole, pools: anchor }) => [whole, anchor.wallMs]),
    {
      metric: "the same",
      unit: "s",
      ours: median(rounds.map(({ ours }) => ours.readMs)) / 1000,
      anchor: counted,
      anchorName: "grep -c ^lease",
      ratio: median(rounds.map(({ ours, grep }) => ours.readMs / grep.wallMs)),
      bar: { kind: "at-most", value: 4 },
    },
  ];
}

/** Highest and idle memory against a plain node, and the highest against that of a file with the same leases and a quarter of the blocks. */
function measureMemory(shape: Pick<Shape, "path" | "addresses" | "program"> & { readonly folder: string }): Measurement[] {
  const { path, addresses, program, folder } = shape;
  const idle = join(folder, "idle.mjs");
  writeFileSync(idle, "process.stdout.write(String(process.resourceUsage().maxRSS));\n");
  const short = join(folder, "short.leases");
  writeLeasesFile({ path: short, blocks: BLOCKS / 4, addresses, seed: 7 });
  const reads: ReadOutcome[] = [];
  const shortReads: ReadOutcome[] = [];
  const plain: number[] = [];
  for (let round = 0; round < 5; round++) {
    reads.push(readOnce(program, path, addresses));
    shortReads.push(readOnce(program, short, addresses));
    plain.push(Number(run(process.execPath, [idle])));
  }
  rmSync(short);
  const row = (metric: string, values: readonly number[], of: { anchor: readonly number[]; name: string; most: number }) => {
    const [ours, anchor] = [median(values) / 1024, median(of.anchor) / 1024];
    const bar = { kind: "at-most", value: of.most } as const;
    return { metric, unit: "MiB", ours, anchor, anchorName: of.name, ratio: ours / anchor, bar };
  };
  const highest = reads.map(({ peakKib }) => peakKib);
  const node = { anchor: plain, name: "plain node", most: 1.8 };
  return [
    row(`memory, highest while reading ${addresses} distinct`, highest, node),
    row(
      "memory, idle after it",
      reads.map(({ idleKib }) => idleKib),
      node,
    ),
    row("memory, four times the blocks", highest, {
      anchor: shortReads.map(({ peakKib }) => peakKib),
      name: "a quarter of the file",
      most: 1.1,
    }),
  ];
}

function readOnce(program: string, path: string, addresses: number): ReadOutcome {
  const outcome = JSON.parse(run(process.execPath, [program, path])) as ReadOutcome;
  if (outcome.leases !== addresses) throw new Error(`${outcome.leases} leases read, ${addresses} expected`);
  return outcome;
}

interface AnchorTimes {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** Runs the anchor under bash, whose `time` tells user and system time. Its output is read: grep looks no further than the first match for /dev/null. */
function runAnchor(program: string, args: readonly string[]): AnchorTimes {
  const script = 'TIMEFORMAT="%3R %3U %3S"; time "$0" "$@" 2>/dev/null';
  const { stdout, stderr, error } = spawnSync("bash", ["-c", script, program, ...args], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  if (error !== undefined) throw error;
  const [wall = Number.NaN, user = Number.NaN, system = Number.NaN] = stderr.trim().split(" ").map(Number);
  if (stdout === "" || Number.isNaN(wall + user + system)) throw new Error(`${program} was not timed: ${stderr}`);
  return { wallMs: wall * 1000, cpuMs: (user + system) * 1000 };
}

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (error !== undefined) throw error;
  if (status !== 0 && program !== "dhcpd-pools") throw new Error(`${program} ended with ${status}: ${stderr}`);
  return stdout;
}

/** The anchor, installed from Debian when it is missing. */
function requireProgram(name: string): void {
  if (spawnSync(name, ["--version"]).error === undefined) return;
  run("apt-get", ["install", "-y", "--no-install-recommends", name]);
}
