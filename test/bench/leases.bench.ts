import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
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
      const program = await buildReader(folder);
      const config = join(folder, "dhcpd.conf");
      writeFileSync(config, "subnet 10.0.0.0 netmask 255.0.0.0 {\n  range 10.0.0.0 10.7.255.255;\n}\n");
      const measurements: Measurement[] = [];
      for (const { addresses, bar } of SHAPES) {
        const path = join(folder, `${addresses}.leases`);
        writeLeasesFile({ path, blocks: BLOCKS, addresses, seed: 7 });
        measurements.push(...measureShape({ path, addresses, bar, program, config }));
        if (addresses === 65_536) measurements.push(measureMemory({ path, addresses, program, folder }));
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

/** One after the other in every round, so that a busy minute of the machine meets all of them. */
function measureShape({ path, addresses, bar, program, config }: Shape): Measurement[] {
  const ours: number[] = [];
  const wholeProcess: number[] = [];
  const pools: number[] = [];
  const grep: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    wholeProcess.push(timed(() => ours.push(readOnce(program, path, addresses).readMs)));
    pools.push(timed(() => run("dhcpd-pools", ["-c", config, "-l", path])));
    grep.push(timed(() => run("grep", ["-c", "^lease", path])));
  }
  const [our, whole, pool, count] = [ours, wholeProcess, pools, grep].map((values) => median(values) / 1000) as [
    number,
    number,
    number,
    number,
  ];
  const common = { unit: "s", ours: our } as const;
  const rows: Measurement[] = [
    {
      ...common,
      metric: `full read, ${addresses} distinct`,
      anchor: pool,
      anchorName: "dhcpd-pools",
      ratio: pool / our,
      bar: { kind: "at-least", value: bar },
    },
  ];
  if (addresses !== 65_536) return rows;
  return [
    ...rows,
    {
      ...common,
      metric: "the same, with the start of node",
      ours: whole,
      anchor: pool,
      anchorName: "dhcpd-pools",
      ratio: pool / whole,
      bar: { kind: "at-least", value: 1 },
    },
    {
      ...common,
      metric: "the same",
      anchor: count,
      anchorName: "grep -c ^lease",
      ratio: our / count,
      bar: { kind: "at-most", value: 4 },
    },
  ];
}

function measureMemory({
  path,
  addresses,
  program,
  folder,
}: Pick<Shape, "path" | "addresses" | "program"> & { readonly folder: string }): Measurement {
  const idle = join(folder, "idle.mjs");
  writeFileSync(idle, "process.stdout.write(String(process.resourceUsage().maxRSS));\n");
  const ours: number[] = [];
  const plain: number[] = [];
  for (let round = 0; round < 5; round++) {
    ours.push(readOnce(program, path, addresses).peakKib / 1024);
    plain.push(Number(run(process.execPath, [idle])) / 1024);
  }
  const [our, node] = [median(ours), median(plain)];
  const metric = "memory, highest while reading 65536 distinct";
  return {
    metric,
    unit: "MiB",
    ours: our,
    anchor: node,
    anchorName: "plain node",
    ratio: our / node,
    bar: { kind: "at-most", value: 1.8 },
  };
}

/** The reader as one file of plain JavaScript. */
async function buildReader(folder: string): Promise<string> {
  const { build } = (await import(createRequire(import.meta.url).resolve("esbuild"))) as {
    readonly build: (options: Record<string, unknown>) => Promise<unknown>;
  };
  const outfile = join(folder, "leases-read.mjs");
  await build({
    entryPoints: [READ_PROGRAM],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    outfile,
    logLevel: "error",
  });
  return outfile;
}

function readOnce(program: string, path: string, addresses: number): ReadOutcome {
  const outcome = JSON.parse(run(process.execPath, [program, path])) as ReadOutcome;
  if (outcome.leases !== addresses) throw new Error(`${outcome.leases} leases read, ${addresses} expected`);
  return outcome;
}

function timed(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
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
