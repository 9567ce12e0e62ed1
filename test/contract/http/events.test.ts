import { request, type IncomingMessage } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ipAddress } from "@berth/core";
import { listenOnAddress, type ApiEndpoint } from "../../../packages/coordinator/src/http/listen-api.js";
import { ADMIN_TOKEN, ask, createFixture, SUBNET, type ApiFixture } from "./api-fixture.js";

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
async function follow(lastId?: string): Promise<{ next: () => Promise<Told>; stop: () => void }> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, ...(lastId === undefined ? {} : { "last-event-id": lastId }) };
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
