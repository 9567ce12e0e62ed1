import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ipAddress } from "@berth/core";
import { listenOnAddress, type ApiEndpoint } from "../../../packages/coordinator/src/http/listen-api.js";
import { ADMIN_TOKEN, ask, createFixture, READ_TOKEN, SUBNET, type ApiFixture } from "./api-fixture.js";

interface Told {
  readonly event: string;
  readonly id: string;
  readonly data: { readonly action?: string; readonly to?: string };
}

let fixture: ApiFixture;
let endpoint: ApiEndpoint;
beforeEach(async () => {
  fixture = await createFixture();
  endpoint = await listenOnAddress(fixture.api, "127.0.0.1", 0);
});
afterEach(async () => {
  await Promise.all([fixture.close(), endpoint.close()]);
});

/** Follows the events; `next` waits for one, `stop` goes away. */
async function follow(lastId?: string, token = ADMIN_TOKEN): Promise<{ next: () => Promise<Told>; stop: () => void }> {
  const headers = { authorization: `Bearer ${token}`, ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${endpoint.url}/api/v1/events`, { headers }, resolve).on("error", reject).end();
  });
  expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "text/event-stream"]);
  const chunks = response.setEncoding("utf8")[Symbol.asyncIterator]() as AsyncIterator<string>;
  let text = "";
  const next = async (): Promise<Told> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
        return { event: field("event"), id: field("id"), data: JSON.parse(field("data")) as Told["data"] };
      }
      const chunk = await chunks.next();
      if (chunk.done === true) throw new Error("the stream ended");
      text += chunk.value;
    }
  };
  return { next, stop: () => response.destroy() };
}

it("tells every change from now on, and a reader that comes back all that it missed, each once and in order", async () => {
  await ask(fixture, "POST", "/subnets", SUBNET);
  const reader = await follow();
  expect(await reader.next()).toMatchObject({ event: "ready", id: "1.0" });
  await ask(fixture, "POST", "/machines/enroll", { nics: ["02:00:00:00:00:01"], subnet: "1" });
  expect(await reader.next()).toMatchObject({ event: "change", id: "2.0", data: { action: "enroll-machine" } });
  reader.stop();
  for (let number = 0; number < 450; number++)
    await fixture.store.audit.append({ at: number, actor: "a", action: `step-${number}`, subject: "", detail: null });
  const move = { site: "default", address: ipAddress("192.168.50.9"), from: "r1", to: "r2", at: 5 };
  await fixture.store.topology.save({ racks: [], goneRacks: [], addresses: [], goneAddresses: [], moves: [move], seenAt: 5 });
  const back = await follow("2.0");
  expect(await back.next()).toMatchObject({ event: "ready", id: "2.0" });
  for (let number = 0; number < 450; number++)
    expect(await back.next()).toMatchObject({ id: `${number + 3}.0`, data: { action: `step-${number}` } });
  expect(await back.next()).toMatchObject({ event: "vip-move", id: "452.1", data: { to: "r2" } });
  back.stop();
});

it("refuses what is no event id, and ends with the API", async () => {
  expect(await ask(fixture, "GET", "/events?after=yesterday")).toMatchObject({ status: 400 });
  const refused = await fixture.api.inject({
    url: "/api/v1/events",
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "last-event-id": "x" },
  });
  expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([400, "event-id-malformed"]);
  const reader = await follow("0.0");
  expect(await reader.next()).toMatchObject({ event: "ready" });
  await Promise.all([fixture.api.close(), expect(reader.next()).rejects.toThrow("the stream ended")]);
});

it("ends a stream whose token is revoked or runs out, before it tells anything more", async () => {
  const make = async (name: string, ttlSeconds?: number) =>
    (await ask(fixture, "POST", "/api-tokens", { name, role: "read", ttlSeconds })).body as { token: string };
  const [revoked, short] = [await make("revoked"), await make("short", 60)];
  const readers = [await follow(undefined, revoked.token), await follow(undefined, short.token)];
  for (const reader of readers) expect(await reader.next()).toMatchObject({ event: "ready" });
  await fixture.ports.apiTokens.revoke("revoked", "test");
  fixture.nowMs += 61_000;
  await fixture.store.audit.append({ at: 1, actor: "a", action: "secret", subject: "", detail: null });
  for (const reader of readers) await expect(reader.next()).rejects.toThrow("the stream ended");
});

it("says that events are gone, where a reader comes back to a region of an older backup", async () => {
  await ask(fixture, "POST", "/subnets", SUBNET);
  for (const ahead of ["2.0", "1.1", "99999999.0"])
    expect(await ask(fixture, "GET", `/events?after=${ahead}`)).toMatchObject({ status: 410, body: { code: "event-id-ahead" } });
});

/** A connection that asks for all events and reads nothing. */
async function deafReader(token = ADMIN_TOKEN): Promise<Socket> {
  const { port } = new URL(endpoint.url);
  const socket = connect(Number(port), "127.0.0.1").pause();
  await once(socket, "connect");
  socket.write(`GET /api/v1/events?after=0.0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  return socket;
}

it("leaves others a place, however many listen with one token, and sends those away that read nothing", async () => {
  const subject = "x".repeat(16_000);
  for (let number = 0; number < 300; number++)
    await fixture.store.audit.append({ at: number, actor: "a", action: "step", subject, detail: null });
  const deaf = await Promise.all(Array.from({ length: 33 }, () => deafReader()));
  await vi.waitUntil(async () => (await statusOf(ADMIN_TOKEN)) === 503, { timeout: 20_000 });
  expect(await statusOf(READ_TOKEN)).toBe(200);
  // Whoever stalls is found stalled at a look after the time.
  await vi.waitUntil(
    async () => {
      fixture.nowMs += 31_000;
      return (await statusOf(ADMIN_TOKEN)) === 200;
    },
    { timeout: 20_000, interval: 200 },
  );
  for (const socket of deaf) socket.destroy();
}, 60_000);

/** Status of a stream that begins now; it is closed at once. */
function statusOf(token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asking = request(`${endpoint.url}/api/v1/events`, { headers: { authorization: `Bearer ${token}` } }, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    asking.on("error", reject).end();
  });
}
