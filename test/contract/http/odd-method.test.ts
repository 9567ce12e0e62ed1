import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ADMIN_TOKEN, createFixture, type ApiFixture } from "./api-fixture.js";

let fixture: ApiFixture;
beforeAll(async () => {
  fixture = await createFixture();
  await fixture.api.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => fixture.close());

it.each(["PUT", "OPTIONS", "TRACE", "PROPFIND", "LOCK"])(
  "%s over a socket is a method that the path does not take",
  async (method) => {
    const { port } = fixture.api.server.address() as AddressInfo;
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const answer = await new Promise<unknown>((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, method, path: "/api/v1/subnets", agent: false, headers }, (response) => {
        response.resume();
        resolve([response.statusCode, response.headers.allow]);
      });
      sent.on("error", reject);
      sent.end();
    });
    expect(answer).toEqual([405, "GET, HEAD, POST"]);
  },
);
