import { silentLog, systemClock } from "@berth/host";
import { afterAll, beforeAll, test } from "vitest";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import { apiTokensContract } from "../../contract/store/api-tokens-contract.js";
import { namesContract } from "../../contract/store/names-contract.js";
import { wireContract } from "../../contract/store/wire-contract.js";
import { checkUpgraded, desiredState, plansContract } from "../../contract/store/plans-contract.js";
import { storeContract, type StoreUnderTest } from "../../contract/store/store-contract.js";
import { PostgresServer } from "./postgres-server.js";

const ports = { clock: systemClock, log: silentLog };
let server: PostgresServer;
let databases = 0;

beforeAll(async () => {
  server = await PostgresServer.create(["fsync=off"]);
});
afterAll(() => server.remove());

async function newDatabase(): Promise<string> {
  databases += 1;
  return server.url(await server.createDatabase(`store${databases}`));
}

async function postgres(): Promise<StoreUnderTest> {
  const url = await newDatabase();
  return { open: () => createPostgresStore(url, ports), discard: () => Promise.resolve() };
}

storeContract("the PostgreSQL store", postgres);
namesContract("the PostgreSQL store", postgres);
plansContract("the PostgreSQL store", postgres);
apiTokensContract("the PostgreSQL store", postgres);
wireContract("the PostgreSQL store", postgres);

test("desired states of a database without their changes are there, and changes can be added", async () => {
  const name = `store${++databases}`;
  const url = server.url(await server.createDatabase(name));
  await (await createPostgresStore(url, ports)).close();
  await server.ask(name, (sql) => sql`drop table desired_change`);
  await server.ask(name, (sql) => sql`delete from kysely_migration where name = '0010-desired-change'`);
  await server.ask(name, (sql) => sql`insert into desired values ('r-1', 7, 'old', ${JSON.stringify(desiredState)})`);
  await checkUpgraded(() => createPostgresStore(url, ports));
});
