import { createFakeClock } from "@berth/host/fakes";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseDatabaseUrl } from "./database-url.js";
import { PostgresConnection } from "./postgres-connection.js";

/** PostgreSQL 15 manual, 55.7: AuthenticationOk, and ReadyForQuery outside of a transaction. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
/** CommandComplete "X", and ReadyForQuery. */
const DONE = Buffer.from([0x43, 0, 0, 0, 6, 0x58, 0, 0x5a, 0, 0, 0, 5, 0x49]);

/** A server that lets everybody in and answers queries when told. */
const server = createServer((socket) => {
  socket.once("data", () => {
    socket.write(WELCOME);
    peer = socket;
  });
});
let peer: Socket | null = null;

beforeEach(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  peer?.destroy();
  peer = null;
  server.close();
  await once(server, "close");
});

function open(clock: ReturnType<typeof createFakeClock>): PostgresConnection {
  const { port } = server.address() as AddressInfo;
  const target = parseDatabaseUrl(`postgres://berth@127.0.0.1:${port}/region`);
  return new PostgresConnection(target, { host: "127.0.0.1", port }, clock);
}

test("a server that leaves one query of many unanswered for twenty seconds is as good as gone", async () => {
  const clock = createFakeClock(0);
  const connection = open(clock);
  const first = connection.run("select 1");
  await expect.poll(() => peer !== null).toBe(true);
  await clock.advance(15_000);
  const second = connection.run("select 2");
  peer?.write(DONE);
  await first;
  await clock.advance(15_000);
  expect(connection.lost).toBe(false);
  const refused = expect(second).rejects.toMatchObject({ code: expect.stringMatching(/^CONNECTION_/) as string });
  await clock.advance(6000);
  expect(connection.lost).toBe(true);
  await refused;
});

test("nothing is left waiting by a connection that is idle or closed", async () => {
  const clock = createFakeClock(0);
  const connection = open(clock);
  const query = connection.run("select 1");
  await expect.poll(() => peer !== null).toBe(true);
  peer?.write(DONE);
  await query;
  await clock.advance(1000);
  expect(clock.sleepers).toBe(0);
  void connection.run("select 2").catch(() => undefined); // closed under it
  expect(clock.sleepers).toBe(1);
  await connection.close();
  expect(clock.sleepers).toBe(0);
});
