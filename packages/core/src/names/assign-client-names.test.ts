import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leaseOf, nic } from "../../../../test/fixtures/alloc/build.js";
import { hardwareAddressSchema } from "../desired/schema.js";
import { assignClientNames, type ClientNames } from "./assign-client-names.js";
import { dnsLabelOf } from "./client-name.js";

type Lease = ReturnType<typeof leaseOf>;
type LeaseRow = readonly [string, string, string];

const NONE: ClientNames = new Map();

function lease(last: number, holder: number, change: Partial<Lease> = {}): Lease {
  return leaseOf(`192.0.2.${last}`, nic(holder), { dnsLabel: "ubuntu", starts: 1000, ...change });
}

function names(leases: readonly Lease[], before = NONE, taken: readonly string[] = []): ClientNames {
  return assignClientNames(leases, { taken: new Set(taken), before });
}

function addressOf(assigned: ClientNames, label = "ubuntu"): string | undefined {
  return assigned.get(label)?.address;
}

describe("case 183: clients that claim the same name", () => {
  const { given, expect: expected } = JSON.parse(
    readFileSync(new URL("../../../../test/fixtures/names/183-duplicate-client-names.json", import.meta.url), "utf8"),
  ) as {
    given: { leases: readonly LeaseRow[] };
    expect: { a: Readonly<Record<string, readonly string[]>>; absent: readonly string[] };
  };
  const leases = given.leases.map(([address, mac, claimed]) =>
    leaseOf(address, hardwareAddressSchema.parse(mac), { dnsLabel: dnsLabelOf(claimed) }),
  );

  it("gives it to the first alone, and localhost to nobody", () => {
    const assigned = assignClientNames(leases, { taken: new Set(), before: NONE });
    expect(Object.fromEntries([...assigned].map(([label, { address }]) => [label, [address]]))).toEqual(expected.a);
    for (const label of expected.absent) expect(assigned.has(label)).toBe(false);
  });

  it("lets the second have it when the first lapses", () => {
    const before = assignClientNames(leases, { taken: new Set(), before: NONE });
    const lapsed = leases.map((one) => (one.address === "192.0.2.11" ? { ...one, inUse: false } : one));
    expect(addressOf(assignClientNames(lapsed, { taken: new Set(), before }))).toBe("192.0.2.12");
  });
});

describe("names that clients claim", () => {
  it("stay with the first through its renewals, also when it comes back to find another in its place", () => {
    const first = names([lease(10, 1), lease(11, 2, { starts: 2000 })]);
    expect(addressOf(first)).toBe("192.0.2.10");
    expect(addressOf(names([lease(10, 1, { starts: 3000 }), lease(11, 2, { starts: 2000 })], first))).toBe("192.0.2.10");
    const second = names([lease(11, 2, { starts: 2000 })], first);
    expect(addressOf(second)).toBe("192.0.2.11");
    expect(addressOf(names([lease(10, 1, { starts: 1500 }), lease(11, 2, { starts: 2000 })], second))).toBe("192.0.2.11");
  });

  it("go along with a machine that has a new address, while its old lease still runs and after it", () => {
    const before = names([lease(10, 1)]);
    const both = names([lease(10, 1), lease(20, 1, { starts: 2000 }), lease(5, 2, { starts: 500 })], before);
    expect(addressOf(both)).toBe("192.0.2.20");
    expect(addressOf(names([lease(20, 1, { starts: 2000 }), lease(5, 2, { starts: 500 })], both))).toBe("192.0.2.20");
  });

  it("are never those that belong to somebody", () => {
    expect(names([lease(10, 1)], names([lease(10, 1)]), ["ubuntu"]).size).toBe(0);
  });

  it("of clients without a hardware address are told apart by address", () => {
    const unknown = (last: number, starts: number): Lease => lease(last, 1, { hardwareAddress: null, starts });
    const before = names([unknown(10, 1000)]);
    expect(addressOf(names([unknown(10, 3000), unknown(9, 2000)], before))).toBe("192.0.2.10");
    expect(addressOf(names([unknown(9, 2000)], before))).toBe("192.0.2.9");
  });

  it("do not depend on the order of the leases", () => {
    const some = fc.array(
      fc.record({
        last: fc.integer({ min: 1, max: 6 }),
        holder: fc.integer({ min: 1, max: 3 }),
        starts: fc.integer({ min: 1, max: 3 }),
      }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(some, some, (rows, earlier) => {
        const make = (list: typeof rows): Lease[] => [
          ...new Map(list.map(({ last, holder, starts }) => [last, lease(last, holder, { starts })])).values(),
        ];
        const before = names(make(earlier));
        expect(names(make(rows).toReversed(), before)).toEqual(names(make(rows), before));
        const holder = names(make(rows), before).get("ubuntu");
        expect(holder === undefined).toBe(rows.length === 0);
        if (holder !== undefined) expect(make(rows).map(({ address }) => address)).toContain(holder.address);
      }),
    );
  });
});
