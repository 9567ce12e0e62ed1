import { expect, test } from "vitest";
import type { UnnumberedZone } from "../dns/compose.js";
import { numberZones } from "./number-zones.js";

const zone: UnnumberedZone = {
  origin: "a.example",
  kind: "forward",
  nameServers: ["ns.a.example"],
  mailbox: "m.a.example",
  ttl: 1,
  premade: [],
  records: [],
};
const digest = (content: UnnumberedZone): string => `${content.origin} ${content.ttl}`;
const now = 1_796_040_000_000;

test("a new zone starts with the time, an unchanged one keeps its serial, a changed one moves on", () => {
  const first = numberZones([zone], new Map(), { digest, now });
  expect(first.zones[0]?.serial).toBe(1_796_040_000);
  const again = numberZones([zone], first.changed, { digest, now: now + 5000 });
  expect([again.zones[0]?.serial, again.changed.size]).toEqual([1_796_040_000, 0]);
  const changed = numberZones([{ ...zone, ttl: 2 }], first.changed, { digest, now: now - 5000 });
  expect([changed.zones[0]?.serial, changed.changed.get("a.example")]).toEqual([
    1_796_040_001,
    { serial: 1_796_040_001, digest: "a.example 2" },
  ]);
});

test("after the largest serial comes 1", () => {
  const before = new Map([["a.example", { serial: 0xffffffff, digest: "other" }]]);
  expect(numberZones([zone], before, { digest, now }).zones[0]?.serial).toBe(1);
});
