import postgres, { type Sql } from "postgres";
import { PostgresServer } from "../scenario/postgres/postgres-server.js";
import { cpuEach, perSecond, row } from "./ledger-http.js";
import { declareSubnet, Requests, TOKEN, type Rate } from "./ledger-requests.js";
import { Service } from "./ledger-service.js";
import type { Measurement } from "./measurement.js";

const ROUNDS = 7;
const ROUND_MS = 1500;
const CALLERS = 32;
const COORDINATORS = 3;

interface Rounds {
  readonly raw: number[];
  readonly alone: Rate[];
  readonly together: Rate[];
}

/** One coordinator on a database of its own, three on another one together, and single-row inserts on as many connections as there are callers, turn by turn. */
export async function measurePostgres(): Promise<readonly Measurement[]> {
  const server = await PostgresServer.create(["shared_buffers=128MB", "max_connections=100"]);
  const services: Service[] = [];
  const start = async (database: string): Promise<Service> => {
    const service = await Service.start("ledger-server.ts", server.url(database), TOKEN);
    services.push(service);
    return service;
  };
  let raw: Sql | null = null;
  try {
    const one = await server.createDatabase("one");
    const shared = await server.createDatabase("shared");
    raw = await openRaw(server.url(await server.createDatabase("raw")));
    const alone = [await start(one)];
    const together: Service[] = [];
    while (together.length < COORDINATORS) together.push(await start(shared));
    for (const [first] of [alone, together]) if (first !== undefined) await declareSubnet(first);
    return rows(await measureRounds({ alone, together, raw }));
  } finally {
    for (const service of services) await service.end();
    await raw?.end();
    await server.remove();
  }
}

async function measureRounds(sides: {
  readonly alone: readonly Service[];
  readonly together: readonly Service[];
  readonly raw: Sql;
}): Promise<Rounds> {
  const rounds: Rounds = { raw: [], alone: [], together: [] };
  const load = { callers: CALLERS, ms: ROUND_MS };
  const [ofAlone, ofTogether] = [new Requests(), new Requests()];
  for (let round = -1; round < ROUNDS; round++) {
    const raw = await rawInsertsPerSecond(sides.raw);
    const alone = await ofAlone.rate(sides.alone, load);
    const together = await ofTogether.rate(sides.together, load);
    if (round < 0) continue; // the first round warms the compiler up
    rounds.raw.push(raw);
    rounds.alone.push(alone);
    rounds.together.push(together);
  }
  return rounds;
}

function rows({ alone, raw, together }: Rounds): Measurement[] {
  const inserts = { anchors: raw, anchorName: `raw single-row inserts on ${CALLERS} connections`, unit: "/s" };
  const speed = `durable allocations a second over HTTP, PostgreSQL, ${CALLERS} callers`;
  const cpu = { anchors: alone.map(cpuEach), anchorName: "one coordinator", unit: "us" };
  return [
    row(speed, alone.map(perSecond), { ...inserts, bar: 0.8 }),
    row(`${speed}, ${COORDINATORS} coordinators together`, together.map(perSecond), { ...inserts, bar: 0.5 }),
    row(`processor time of ${COORDINATORS} coordinators an allocation`, together.map(cpuEach), cpu),
  ];
}

async function openRaw(url: string): Promise<Sql> {
  const sql = postgres(url, { max: CALLERS, onnotice: () => undefined });
  await sql`create table allocation (id text primary key, address bytea not null unique, owner text not null unique, name text not null, at bigint not null)`;
  return sql;
}

let inserted = 0;

/** Each connection commits one row after the other, durably: `synchronous_commit` is on unless told otherwise. */
async function rawInsertsPerSecond(sql: Sql): Promise<number> {
  const start = performance.now();
  const counts = await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      let done = 0;
      for (; performance.now() - start < ROUND_MS; done++) {
        const number = inserted++;
        const address = Buffer.alloc(16);
        address.writeUInt32BE(number, 12);
        await sql`insert into allocation values (${`a-${number}`}, ${address}, ${`machine/m-${number}/subnet/1`}, ${`ip-${number}.bench.example`}, ${1_800_000_000_000})`;
      }
      return done;
    }),
  );
  return (counts.reduce((sum, count) => sum + count, 0) * 1000) / (performance.now() - start);
}
