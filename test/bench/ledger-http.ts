import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import SqliteDatabase, { type Database } from "better-sqlite3";
import { declareSubnet, Requests, TOKEN, type Rate } from "./ledger-requests.js";
import { Service } from "./ledger-service.js";
import { median, type Measurement } from "./measurement.js";

const ROUNDS = 7;
const ROUND_MS = 1500;
const CALLERS = 32;

interface Rounds {
  readonly raw: number[];
  readonly echo: Rate[];
  readonly bareMany: Rate[];
  readonly bareOne: Rate[];
  readonly many: Rate[];
  readonly one: Rate[];
}

/** Durable allocations over HTTP against raw commits of single inserts on the same disk, turn by turn, and what HTTP alone does. */
export async function measureHttp(): Promise<readonly Measurement[]> {
  // Beside this file and not in a temporary folder, which may be memory: the bar is about a disk.
  const folder = mkdtempSync(fileURLToPath(new URL("results-ledger-", import.meta.url)));
  const raw = openRaw(folder);
  const services: Service[] = [];
  try {
    const ours = await Service.start("ledger-server.ts", join(folder, "data"), TOKEN);
    services.push(ours);
    const echo = await Service.start("ledger-echo.ts");
    services.push(echo);
    const bare = await Service.start("ledger-bare.ts", folder);
    services.push(bare);
    await declareSubnet(ours);
    return rows(await measureRounds({ ours, echo, bare, raw }));
  } finally {
    for (const service of services) await service.end();
    raw.close();
    rmSync(folder, { recursive: true });
  }
}

async function measureRounds(sides: {
  readonly ours: Service;
  readonly echo: Service;
  readonly bare: Service;
  readonly raw: Database;
}): Promise<Rounds> {
  const { bare, echo, ours, raw } = sides;
  const rounds: Rounds = { raw: [], echo: [], bareMany: [], bareOne: [], many: [], one: [] };
  const requests = new Requests();
  for (let round = -1; round < ROUNDS; round++) {
    const rawRate = rawCommitsPerSecond(raw, ROUND_MS);
    const echoRate = await requests.rate([echo], { callers: CALLERS, ms: ROUND_MS });
    const bareMany = await requests.rate([bare], { callers: CALLERS, ms: ROUND_MS });
    const bareOne = await requests.rate([bare], { callers: 1, ms: ROUND_MS });
    const many = await requests.rate([ours], { callers: CALLERS, ms: ROUND_MS });
    const one = await requests.rate([ours], { callers: 1, ms: ROUND_MS });
    if (round < 0) continue; // the first round warms the compiler up
    rounds.raw.push(rawRate);
    rounds.echo.push(echoRate);
    rounds.bareMany.push(bareMany);
    rounds.bareOne.push(bareOne);
    rounds.many.push(many);
    rounds.one.push(one);
  }
  return rounds;
}

function rows({ bareMany, bareOne, echo, many, one, raw }: Rounds): Measurement[] {
  const commits = { anchors: raw, anchorName: "raw single-insert commits", unit: "/s" };
  const answers = { anchorName: "bare node:http echo" };
  const echoes = echo.map(({ perSecond }) => perSecond);
  const speed = "durable allocations a second over HTTP, SQLite";
  return [
    row(`${speed}, ${CALLERS} callers`, many.map(perSecond), { ...commits, bar: 3 }),
    row(`${speed}, 1 caller`, one.map(perSecond), { ...commits, bar: 0.35 }),
    row(`the least there is: a bare row over HTTP, ${CALLERS} callers`, bareMany.map(perSecond), commits),
    row("the same, 1 caller", bareOne.map(perSecond), commits),
    row(`the ceiling: ${CALLERS} callers`, many.map(perSecond), { ...answers, anchors: echoes, unit: "/s" }),
    row("processor time of the server an allocation", many.map(cpuEach), { ...answers, anchors: echo.map(cpuEach), unit: "us" }),
  ];
}

export const perSecond = (rate: Rate): number => rate.perSecond;
export const cpuEach = (rate: Rate): number => rate.cpuEach;

interface Against {
  readonly anchors: readonly number[];
  readonly anchorName: string;
  readonly unit: string;
  /** Left out, the row is there to be read beside the others. */
  readonly bar?: number;
}

/** The ratio of each round is its own: the machine's speed moves between rounds, and both sides of one see the same. */
export function row(metric: string, ours: readonly number[], { anchors, anchorName, bar, unit }: Against): Measurement {
  const ratio = median(ours.map((rate, round) => rate / (anchors[round] ?? Number.NaN)));
  const measured = { metric, unit, ours: median(ours), anchor: median(anchors), anchorName, ratio };
  return bar === undefined ? measured : { ...measured, bar: { kind: "at-least", value: bar } };
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
