import fc from "fast-check";
import { expect, test } from "vitest";
import { nic } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import type { Allocation, Subnet } from "../ipam/model.js";
import { premadeLabel } from "../names/premade.js";
import { changeHolds, subnetHolds } from "./subnet-holds.js";

const shape = { id: 1, site: "default", gateway: null, domain: "a.example", reserved: [], enlistment: null } as const;
const rest = { mode: "window", leaseTime: 600, maxLeaseTime: 1200, dns: null, ntp: null } as const;
const SUBNETS = [
  { prefix: ipPrefix("10.0.0.0/24"), base: "10.0.0.", window: { first: ipAddress("10.0.0.9"), last: ipAddress("10.0.0.12") } },
  { prefix: ipPrefix("fd00::/64"), base: "fd00::", window: null },
].map(({ base, ...own }) => ({ base, subnet: { ...shape, ...rest, ...own } as unknown as Subnet }));

const allocation = fc.record({
  at: fc.integer({ min: 2, max: 15 }),
  machine: fc.integer({ min: 1, max: 200 }),
  nics: fc.integer({ min: 0, max: 2 }),
  kind: fc.constantFrom("machine", "additional", "vip"),
  delivery: fc.constantFrom("dhcp", "config", "both"),
  isNamed: fc.boolean(),
});

test("what is taken after a change is what would be taken anew, and lists in which nothing differs are the very same", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SUBNETS),
      fc.array(allocation, { maxLength: 12 }),
      fc.array(fc.tuple(allocation, fc.boolean()), { minLength: 1, maxLength: 5 }),
      ({ base, subnet }, first, later) => {
        const make = ({ at, machine, nics, isNamed, ...own }: (typeof first)[number]): Allocation => {
          const address = ipAddress(`${base}${at}`);
          const name = isNamed ? `m${machine}.a.example` : `${premadeLabel(address)}.a.example`;
          const served = Array.from({ length: nics }, (_, n) => nic(machine * 2 + n));
          return { ...own, subnetId: 1, address, name, nics: served } as unknown as Allocation;
        };
        const held = new Map(first.map(make).map((each) => [each.address, each]));
        const before = subnetHolds(subnet, held.values());
        const changed = new Map(
          later.map(
            ([each, isThere]) => [make(each).address, isThere ? make(each) : null] as [Allocation["address"], Allocation | null],
          ),
        );
        for (const [address, now] of changed) {
          if (now === null) held.delete(address);
          else held.set(address, now);
        }
        const after = changeHolds(subnet, before, changed);
        expect(after).toEqual(subnetHolds(subnet, held.values()));
        for (const list of ["hosts", "inWindow", "named"] as const)
          if (JSON.stringify(after[list]) === JSON.stringify(before[list])) expect(after[list]).toBe(before[list]);
        const kept = after.hosts.filter(({ address }) => !changed.has(address));
        expect(kept.every((host) => before.hosts.includes(host))).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});
