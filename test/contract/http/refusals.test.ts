import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EnvironmentError } from "@berth/host";
import { ADMIN_TOKEN, READ_TOKEN, SUBNET, ask, createFixture, type ApiFixture } from "./api-fixture.js";

let fixture: ApiFixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

const ERROR = { type: expect.stringMatching(/^urn:berth:problem:/) as string, title: expect.any(String) as string };

describe("a method that a path does not take", () => {
  it.each([
    ["PUT", "/api/v1/subnets", "GET, HEAD, POST"],
    ["POST", "/api/v1/subnets/1", "DELETE, GET, HEAD, PATCH"],
    ["DELETE", "/api/v1/machines/enroll", "GET, HEAD, PATCH, POST"],
    ["OPTIONS", "/api/v1/status?x=1", "GET, HEAD"],
    ["PATCH", "/healthz", "GET, HEAD"],
  ] as const)("%s %s is answered 405, with what it takes", async (method, url, allow) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const response = await fixture.api.inject({ method, url, headers });
    expect([response.statusCode, response.headers.allow]).toEqual([405, allow]);
    expect(response.json()).toMatchObject({
      ...ERROR,
      title: "The path does not take this method",
      status: 405,
      code: "method-not-allowed",
    });
  });

  it("a path that there is not stays unknown, whatever the method", async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    for (const url of ["/api/v1/subnetz", "/api/v1/subnets/1/x", "/api/v1/subnets/"])
      expect((await fixture.api.inject({ method: "PUT", url, headers })).statusCode).toBe(404);
  });
});

describe("bad input", () => {
  it("refuses a prefix with host bits and suggests the network", async () => {
    expect(await ask(fixture, "POST", "/subnets", { ...SUBNET, prefix: "192.168.50.7/24" })).toMatchObject({
      status: 400,
      type: expect.stringContaining("application/problem+json") as string,
      body: { ...ERROR, status: 400, code: "prefix-host-bits", at: "prefix", remedy: "the network is 192.168.50.0/24" },
    });
  });

  it("refuses a window outside its subnet", async () => {
    const window = { first: "192.168.51.10", last: "192.168.51.20" };
    const answer = await ask(fixture, "POST", "/subnets", { ...SUBNET, mode: "window", window });
    expect(answer).toMatchObject({ status: 422, body: { ...ERROR, at: expect.stringContaining("window") as string } });
    expect((answer.body as { detail: string }).detail).toContain("192.168.50.0/24");
  });

  it("refuses overlapping subnets and names the other", async () => {
    await ask(fixture, "POST", "/subnets", SUBNET);
    const answer = await ask(fixture, "POST", "/subnets", {
      ...SUBNET,
      prefix: "192.168.50.128/25",
      gateway: null,
      domain: "other.example",
    });
    expect(answer).toMatchObject({ status: 409, body: { ...ERROR, code: "subnet-overlaps" } });
    expect((answer.body as { detail: string }).detail).toContain("192.168.50.0/24");
    expect(fixture.ports.ledger.subnets()).toHaveLength(1);
  });

  it("refuses one MAC on two machines", async () => {
    await ask(fixture, "POST", "/subnets", SUBNET);
    const enroll = (nics: string[], name: string) => ask(fixture, "POST", "/machines/enroll", { nics, name, subnet: "1" });
    await enroll(["02:00:00:00:00:01"], "one");
    await enroll(["02:00:00:00:00:02"], "two");
    const before = fixture.ports.ledger.allocations();
    expect(await enroll(["02:00:00:00:00:01", "02:00:00:00:00:02"], "one")).toMatchObject({
      status: 409,
      body: { ...ERROR, code: "nic-on-two-machines" },
    });
    expect(fixture.ports.ledger.allocations()).toEqual(before);
  });

  it("refuses an address that another machine has, by whom", async () => {
    await ask(fixture, "POST", "/subnets", SUBNET);
    const enroll = (nic: string, name: string) =>
      ask(fixture, "POST", "/machines/enroll", { nics: [nic], name, subnet: "1", address: "192.168.50.60" });
    expect(await enroll("02:00:00:00:00:01", "one")).toMatchObject({ status: 201 });
    const refused = await enroll("02:00:00:00:00:02", "two");
    expect(refused).toMatchObject({ status: 409, body: { code: "address-taken" } });
    expect((refused.body as { detail: string }).detail).toContain("one");
  });

  it("reports every wrong key at once, each with its place", async () => {
    const body = {
      ...SUBNET,
      domain: "-bad-",
      gateway: "192.168.050.1",
      windw: 1,
      window: { first: "x", end: 2 },
      leaseTime: 1,
      mode: "on",
    };
    const { body: answer, status } = await ask(fixture, "POST", "/subnets", body);
    expect(status).toBe(400);
    expect((answer as { problems: { at: string }[] }).problems.map(({ at }) => at).sort()).toEqual(
      ["domain", "gateway", "leaseTime", "mode", "window.end", "window.first", "window.last", "windw"].sort(),
    );
  });

  it("names a missing key, a wrong list item and a wrong query", async () => {
    expect(await ask(fixture, "POST", "/subnets", {})).toMatchObject({
      status: 400,
      body: { code: "request-missing-key", problems: [{ at: "prefix" }, { at: "domain" }, { at: "mode" }] },
    });
    expect(await ask(fixture, "POST", "/machines/enroll", { nics: ["02:00:00:00:00:01", "garbage"] })).toMatchObject({
      status: 400,
      body: { at: "nics[1]" },
    });
    expect(await ask(fixture, "GET", "/leases?limit=0&state=dead&colour=red")).toMatchObject({
      status: 400,
      body: { problems: [{ at: "query.limit" }, { at: "query.state" }, { at: "query.colour" }] },
    });
  });

  it.each([
    ["what is no JSON", "{", "application/json", 400, "body-malformed"],
    ["nothing", "", "application/json", 400, "body-malformed"],
    ["a key that poisons prototypes", '{"__proto__":{"a":1}}', "application/json", 400, "body-malformed"],
    ["a list", "[]", "application/json", 400, "request-invalid"],
    ["plain text", "{}", "text/plain", 415, "body-not-json"],
    ["another type", "a=b", "application/x-www-form-urlencoded", 415, "body-not-json"],
    ["too much", JSON.stringify({ prefix: "x".repeat(300_000) }), "application/json", 413, "body-too-large"],
  ])("refuses a body of %s", async (_what, payload, type, status, code) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": type };
    const response = await fixture.api.inject({ method: "POST", url: "/api/v1/subnets", headers, payload });
    expect(response.statusCode).toBe(status);
    expect(response.headers["content-type"]).toContain("application/problem+json");
    expect(response.json()).toMatchObject({ ...ERROR, status, code });
  });

  it("tells what a value must be in plain words, with what to do", async () => {
    const wrong = { name: "x", role: "root", ttlSeconds: 1 };
    const remedy = "see /api/v1/openapi.json for what it may be";
    expect(await ask(fixture, "POST", "/api-tokens", wrong)).toMatchObject({
      body: {
        problems: [
          { at: "role", message: "must be one of read, operate, admin", remedy },
          { at: "ttlSeconds", message: "must be at least 60", remedy },
        ],
      },
    });
    const bulk = await ask(fixture, "POST", "/allocations/bulk", { items: [{ machine: "web1", key: "a" }] });
    const message = "must be one of enroll, machine, additional, vip";
    expect(bulk).toMatchObject({ status: 400, body: { problems: [{ at: "items[0].kind", message, remedy }] } });
  });

  it.each([
    ["a direction mark", "a\u202eb"],
    ["a line separator", "a\u2028b"],
    ["half a character", "a\ud800b"],
    ["an escape", "\u001b[31m"],
  ])("refuses a note with %s", async (_, note) => {
    await ask(fixture, "POST", "/subnets", SUBNET);
    expect(await ask(fixture, "POST", "/reservations", { first: "192.168.50.9", note })).toMatchObject({
      status: 422,
      body: { code: "note-invalid" },
    });
    const plain = "Straße 5, Müller 🙂";
    expect(await ask(fixture, "POST", "/reservations", { first: "192.168.50.9", note: plain })).toMatchObject({
      status: 201,
      body: { note: plain },
    });
  });

  it.each(["subnets/7", "machines/nobody", "racks/none", "nothing", "leases?rack=nope", "allocations?machine=m-nope"])(
    "answers 404 for %s",
    async (path) => {
      expect(await ask(fixture, "GET", `/${path}`)).toMatchObject({
        status: 404,
        body: { ...ERROR, code: expect.stringContaining("unknown") as string },
      });
    },
  );

  it.each([
    ["subnets/%ZZ", 400],
    [`machines/${"a".repeat(400)}`, 414],
  ])("refuses the path %s", async (path, status) => {
    expect(await ask(fixture, "GET", `/${path}`)).toMatchObject({
      status,
      type: expect.stringContaining("application/problem+json") as string,
      body: { ...ERROR, status, code: "url-malformed" },
    });
  });

  it("cannot change what a subnet is", async () => {
    await ask(fixture, "POST", "/subnets", SUBNET);
    expect(await ask(fixture, "PATCH", "/subnets/1", { prefix: "10.0.0.0/8" })).toMatchObject({
      status: 400,
      body: { code: "request-unknown-key", at: "prefix" },
    });
  });
});

describe("tokens", () => {
  it.each([
    ["none", undefined],
    ["an unknown one", "Bearer wrong"],
    ["another scheme", `Basic ${ADMIN_TOKEN}`],
    ["two words", `Bearer ${ADMIN_TOKEN} x`],
    ["an endless one", `Bearer ${"a".repeat(5000)}`],
  ])("answer 401 to %s, before the body is read", async (_what, authorization) => {
    const response = await fixture.api.inject({
      method: "POST",
      url: "/api/v1/subnets",
      headers: { "content-type": "application/json", ...(authorization === undefined ? {} : { authorization }) },
      payload: "{",
    });
    expect(response.statusCode).toBe(401);
    expect(response.headers["www-authenticate"]).toBe('Bearer realm="berth"');
    expect(response.json()).toMatchObject({ ...ERROR, code: "token-invalid", at: "authorization" });
  });

  it.each([
    ["GET", "/api/v1/subnets", 200],
    ["POST", "/api/v1/subnets", 403],
    ["POST", "/api/v1/tokens", 403],
    ["DELETE", "/api/v1/racks/x", 403],
  ] as const)("of a reader: %s %s is %i", async (method, url, status) => {
    const response = await fixture.api.inject({ method, url, headers: { authorization: `Bearer ${READ_TOKEN}` } });
    expect(response.statusCode).toBe(status);
    if (status === 403) expect(response.json()).toMatchObject({ ...ERROR, code: "role-insufficient" });
  });
});

describe("trouble of the coordinator itself", () => {
  it("is 503 with its remedy when the world failed, and 500 without details on a bug", async () => {
    const failing = (error: Error) => ({ ...fixture.ports.ledger, createSubnet: () => Promise.reject(error) });
    const full = await createFixture({
      ledger: failing(new EnvironmentError("disk-full", "ledger.db", "no space is left", { remedy: "free some" })),
    });
    expect(await ask(full, "POST", "/subnets", SUBNET)).toMatchObject({
      status: 503,
      body: { ...ERROR, code: "disk-full", remedy: "free some" },
    });
    await full.close();
    const broken = await createFixture({ ledger: failing(new TypeError("secret detail")) });
    const answer = await ask(broken, "POST", "/subnets", SUBNET);
    expect(answer).toMatchObject({ status: 500, body: { ...ERROR, code: "internal" } });
    expect(JSON.stringify(answer.body)).not.toContain("secret detail");
    await broken.close();
  });
});
