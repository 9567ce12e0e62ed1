import fc from "fast-check";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { desiredChangeSchema, diffDesired, patchDesired } from "./change.js";
import { DesiredDigests } from "./desired-digests.js";
import { desiredStateSchema, type DesiredState } from "./schema.js";
import { shareParts } from "./share.js";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const digests = new DesiredDigests(sha256);
const digest = (state: DesiredState): string => digests.of(state);

const host = fc.record({
  hardwareAddress: fc.integer({ min: 0, max: 30 }).map((n) => `02:00:5e:00:53:${n.toString(16).padStart(2, "0")}`),
  address: fc.integer({ min: 1, max: 30 }).map((n) => `192.0.2.${n}`),
  name: fc.constantFrom("a.example", "b.example"),
});
const record = fc.record({
  owner: fc.constantFrom("a", "b", "c", "d"),
  type: fc.constantFrom("A", "PTR"),
  ttl: fc.constant(60),
  value: fc.constantFrom("192.0.2.1", "x.example."),
});
const subnet = fc.record({
  id: fc.integer({ min: 1, max: 3 }),
  excluded: fc.array(fc.constantFrom("192.0.2.5", "192.0.2.6"), { maxLength: 2 }),
  hosts: fc.array(host, { maxLength: 12 }),
  leaseTime: fc.constantFrom(600, 900),
});
const zone = fc.record({
  origin: fc.constantFrom("a.example", "b.example", "c.example"),
  serial: fc.integer({ min: 1, max: 3 }),
  records: fc.array(record, { maxLength: 8 }),
});
const state = fc
  .record({
    generation: fc.integer({ min: 1, max: 1000 }),
    subnets: fc.uniqueArray(subnet, { maxLength: 3, selector: ({ id }) => id }),
    zones: fc.uniqueArray(zone, { maxLength: 3, selector: ({ origin }) => origin }),
    vips: fc.option(fc.constant(["192.0.2.9"]), { nil: undefined }),
  })
  .map(({ generation, subnets, zones, vips }) =>
    desiredStateSchema.parse({
      ...{ format: 1, rack: "r1", generation, queryFrom: [], forwarders: [], ...(vips === undefined ? {} : { vips }) },
      subnets: subnets.map((own) => ({
        ...{ ...own, prefix: "192.0.2.0/24", mode: "static", gateway: null, domain: "example", window: null },
        ...{ enlistment: null, dns: [], ntp: [], maxLeaseTime: 900 },
      })),
      zones: zones.map((own) => ({
        ...{ ...own, kind: "forward", nameServers: ["ns.example"], mailbox: "m.example", ttl: 60, premade: [] },
      })),
    }),
  );

/** As it comes out of the other end of the link. */
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe("a change of a desired state", () => {
  it("leads from any state to any other, over the wire, and leaves what is equal as it is", () => {
    fc.assert(
      fc.property(state, state, (before, next) => {
        const after = shareParts(before, copy(next));
        expect(after).toEqual(next);
        const change = diffDesired(before, after, digest);
        if (change === null) throw new Error("a small change");
        const patched = patchDesired(before, desiredChangeSchema.parse(copy(change)));
        expect(patched).toEqual(next);
        expect(patched === null ? null : digest(patched)).toBe(change.digest);
      }),
    );
  });

  it("is as small as what changed, and keeps the objects of the rest", () => {
    const base = desiredStateSchema.parse(big(5_000));
    const next = copy(base);
    const [only] = next.subnets;
    only?.hosts.splice(2_000, 0, { ...only.hosts[0], hardwareAddress: "02:00:5e:00:53:ff" } as never);
    const after = shareParts(base, { ...next, generation: 2 });
    const change = diffDesired(base, after, digest);
    expect(JSON.stringify(change).length).toBeLessThan(2_000);
    expect(change?.zones).toBeNull();
    const patched = change === null ? null : patchDesired(base, change);
    expect(patched?.zones).toBe(base.zones);
    expect(patched?.subnets[0]?.hosts[4_000]).toBe(base.subnets[0]?.hosts[3_999]);
  });

  it("is none where hardly anything is left as it was", () => {
    const [base, next] = [desiredStateSchema.parse(big(5_000)), desiredStateSchema.parse(big(5_000, "other.example"))];
    expect(diffDesired(base, shareParts(base, { ...next, generation: 2 }), digest)).toBeNull();
  });

  it("fits the state that it was made for alone", () => {
    const base = desiredStateSchema.parse(big(3));
    const next = shareParts(base, { ...base, generation: 2, subnets: [] });
    const change = diffDesired(base, next, digest);
    if (change === null) throw new Error("a small change");
    expect(patchDesired({ ...base, generation: 9 }, change)).toBeNull();
    const places = [{ same: 7 }, { of: 0, rest: copy(base.subnets[0]) as never, hosts: [{ at: 2, gone: 2, put: [] }] }];
    for (const place of places) expect(patchDesired(base, { ...change, subnets: [place] })).toBeNull();
  });
});

describe("the digest of a desired state", () => {
  it("does not depend on the order of members, and differs when anything does", () => {
    const base = desiredStateSchema.parse(big(3));
    const turned = Object.fromEntries(Object.entries(copy(base)).reverse()) as DesiredState;
    expect(digest(turned)).toBe(digest(base));
    const [subnet, zone] = [base.subnets[0], base.zones[0]];
    if (subnet === undefined || zone === undefined) throw new Error("the state has both");
    const others: DesiredState[] = [
      { ...base, generation: 2 },
      { ...base, subnets: [] },
      { ...base, zones: [] },
      { ...base, subnets: [{ ...subnet, leaseTime: 700 }] },
      { ...base, subnets: [{ ...subnet, hosts: subnet.hosts.slice(1) }] },
      { ...base, zones: [{ ...zone, serial: 9 }] },
      { ...base, zones: [{ ...zone, records: [] }] },
    ];
    expect(new Set([base, ...others].map(digest)).size).toBe(others.length + 1);
  });
});

function big(hosts: number, domain = "example"): unknown {
  const numbers = Array.from({ length: hosts }, (_, n) => n + 1);
  const hex = (n: number): string => n.toString(16).padStart(2, "0");
  return {
    ...{ format: 1, rack: "r1", generation: 1, queryFrom: [], forwarders: [] },
    subnets: [
      {
        ...{ id: 1, prefix: "10.0.0.0/16", mode: "static", gateway: null, domain: "example", window: null, enlistment: null },
        ...{ excluded: [], dns: [], ntp: [], leaseTime: 600, maxLeaseTime: 600 },
        hosts: numbers.map((n) => ({
          hardwareAddress: `02:00:5e:01:${hex(n >> 8)}:${hex(n & 255)}`,
          address: `10.0.${n >> 8}.${n & 255}`,
          name: `m${n}.${domain}`,
        })),
      },
    ],
    zones: [
      {
        ...{ origin: "example", serial: 1, kind: "forward", nameServers: ["ns.example"], mailbox: "m.example", ttl: 60 },
        ...{
          premade: [],
          records: numbers.map((n) => ({ owner: `m${n}`, type: "A", ttl: 60, value: `10.0.${n >> 8}.${n & 255}` })),
        },
      },
    ],
  };
}
