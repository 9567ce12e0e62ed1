import { silentLog, systemClock } from "@berth/host";
import { afterAll, beforeAll } from "vitest";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import { apiTokensContract } from "../../contract/store/api-tokens-contract.js";
import { namesContract } from "../../contract/store/names-contract.js";
import { wireContract } from "../../contract/store/wire-contract.js";
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
apiTokensContract("the PostgreSQL store", postgres);
wireContract("the PostgreSQL store", postgres);
