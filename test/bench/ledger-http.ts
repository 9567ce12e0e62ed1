import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { Caller, enrollsPerSecond } from "./ledger-callers.js";
import { median, type Measurement } from "./measurement.js";

const ROUNDS = 7;
const ROUND_MS = 1500;
const TOKEN = "berth_bench";
const CALLERS = 32;

/** Durable allocations over HTTP against raw commits of single inserts on the same disk, turn by turn. */
export async function measureHttp(): Promise<readonly Measurement[]> {
  // Beside this file and not in a temporary folder, which may be memory: the bar is about a disk.
  const folder = mkdtempSync(fileURLToPath(new URL("results-ledger-", import.meta.url)));
  const raw = openRaw(folder);
  const server = spawn(
    process.execPath,
    ["--import", "tsx", fileURLToPath(new URL("ledger-server.ts", import.meta.url)), join(folder, "data"), TOKEN],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  try {
    const url = await firstLine(server);
    await declareSubnet(url);
    return await measureRounds(url, raw);
  } finally {
    server.kill("SIGTERM");
    raw.close();
    rmSync(folder, { recursive: true });
  }
}

async function measureRounds(url: string, raw: Database): Promise<readonly Measurement[]> {
  const rates: Record<"raw" | "many" | "one", number[]> = { raw: [], many: [], one: [] };
  let machines = 0;
  const next = (): string => `{"nics":["${nic(machines++)}"],"subnet":"1"}`;
  for (let round = -1; round < ROUNDS; round++) {
    const rawRate = rawCommitsPerSecond(raw, ROUND_MS);
    const many = await enrollsPerSecond({ url, token: TOKEN, callers: CALLERS, ms: ROUND_MS, next });
    const one = await enrollsPerSecond({ url, token: TOKEN, callers: 1, ms: ROUND_MS, next });
    if (round < 0) continue; // the first round warms the compiler up
    rates.raw.push(rawRate);
    rates.many.push(many);
    rates.one.push(one);
  }
  return [
    row(`${CALLERS} callers`, rates.many, { anchors: rates.raw, bar: 3 }),
    row("1 caller", rates.one, { anchors: rates.raw, bar: 0.35 }),
  ];
}

/** The ratio of each round is its own: the machine's speed moves between rounds, and both sides of one see the same. */
function row(
  who: string,
  ours: readonly number[],
  { anchors, bar }: { readonly anchors: readonly number[]; readonly bar: number },
): Measurement {
  return {
    metric: `durable allocations a second over HTTP, ${who}`,
    unit: "/s",
    ours: median(ours),
    anchor: median(anchors),
    anchorName: "raw single-insert commits",
    ratio: median(ours.map((rate, round) => rate / (anchors[round] ?? Number.NaN))),
    bar: { kind: "at-least", value: bar },
  };
}

function openRaw(folder: string): Database {
  const raw = new SqliteDatabase(join(folder, "raw.sqlite"));
  raw.pragma("journal_mode = WAL");
  raw.pragma("synchronous = FULL");
  raw.exec(
    "create table allocation (id text primary key, address blob not null unique, owner text not null unique, name text not null, at integer not null)",
  );
  return raw;
}

let inserted = 0;

function rawCommitsPerSecond(raw: Database, ms: number): number {
  const insert = raw.prepare("insert into allocation values (?, ?, ?, ?, ?)");
  const start = performance.now();
  let done = 0;
  for (; performance.now() - start < ms; done++) {
    const number = inserted++;
    const address = Buffer.alloc(16);
    address.writeUInt32BE(number, 12);
    insert.run(`a-${number}`, address, `machine/m-${number}/subnet/1`, `ip-${number}.bench.example`, 1_800_000_000_000);
  }
  return (done * 1000) / (performance.now() - start);
}

async function declareSubnet(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const caller = await Caller.open(hostname, Number(port), TOKEN);
  const status = await caller.post(
    "/api/v1/subnets",
    JSON.stringify({ prefix: "10.0.0.0/8", domain: "bench.example", mode: "static" }),
  );
  caller.close();
  if (status !== 201) throw new Error(`no subnet: ${status} ${caller.body}`);
}

export function nic(number: number): string {
  const hex = (0x020000000000 + number).toString(16).padStart(12, "0");
  return hex.match(/../g)?.join(":") ?? "";
}

function firstLine(server: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    server.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      const end = text.indexOf("\n");
      if (end >= 0) resolve(text.slice(0, end));
    });
    server.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}
