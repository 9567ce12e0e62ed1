import { fc, it } from "@fast-check/vitest";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { SUBNET, ask, createFixture, type ApiFixture } from "./api-fixture.js";

let fixture: ApiFixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

const RANGE = { first: "192.168.50.10", last: "192.168.50.20" };
const CREATE = {
  ...SUBNET,
  site: "default",
  window: RANGE,
  reserved: [RANGE],
  enlistment: { pool: "169.254.0.0/16" },
  dns: ["192.0.2.1"],
  leaseTime: 60,
};
const ENROLL = { nics: ["02:00:00:00:00:01"], name: "node-1", subnet: "1", address: "192.168.50.60" };

/** A good body in which one value became anything at all, near misses among them. */
function spoiled(body: Readonly<Record<string, unknown>>): fc.Arbitrary<Record<string, unknown>> {
  const near = fc.constantFrom(
    "",
    "192.168.50.0/33",
    "192.168.50.10-",
    "::/0",
    "fe80::1%eth0",
    "ff:ff:ff:ff:ff:ff",
    "-",
    ".",
    "a".repeat(300),
    -1,
    1e99,
    2 ** 53,
    [[]],
    {},
  );
  const value = fc.oneof(near, fc.jsonValue(), fc.string({ unit: "binary" }));
  return fc.tuple(fc.constantFrom(...Object.keys(body), "extra"), value).map(([key, wrong]) => ({ ...body, [key]: wrong }));
}

describe("garbage is refused with reasons, never answered with a failure, and changes nothing", () => {
  const paths = fc.oneof(
    fc.tuple(fc.constant("/subnets"), fc.oneof(spoiled(CREATE), fc.jsonValue())),
    fc.tuple(fc.constant("/machines/enroll"), fc.oneof(spoiled(ENROLL), fc.jsonValue())),
    fc.tuple(fc.constant("/tokens"), fc.oneof(spoiled({ rack: "rack-1", ttlSeconds: 60 }), fc.jsonValue())),
  );

  it.prop([paths], { numRuns: 300 })("in any body", async ([path, body]) => {
    const before = fixture.ports.ledger.revision;
    const answer = await ask(fixture, "POST", path, JSON.stringify(body));
    if (answer.status < 300) return;
    expect([400, 404, 409, 422]).toContain(answer.status);
    expect((answer.body as { problems: unknown[] }).problems.length).toBeGreaterThan(0);
    expect(fixture.ports.ledger.revision).toBe(before);
  });

  it.prop([fc.string({ unit: "binary", minLength: 1, maxLength: 60 })], { numRuns: 150 })(
    "in any name in a path",
    async (text) => {
      for (const path of [`/subnets/${encodeURIComponent(text)}`, `/machines/${encodeURIComponent(text)}`])
        expect([200, 404]).toContain((await ask(fixture, "GET", path)).status);
    },
  );
});
