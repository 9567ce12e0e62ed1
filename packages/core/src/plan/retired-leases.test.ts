import { expect, test } from "vitest";
import { Desk, leaseOf, MINUTE, nic, NOON, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { planRacks } from "./plan-racks.js";
import type { RetiredLease } from "../desired/schema.js";

function retired(desk: Desk, now = desk.now): RetiredLease[] | undefined {
  const policy = { forwarders: [], mailbox: null, ntpUpstreams: [] };
  const plan = planRacks({ ...desk.state.content(), racks: desk.racks, now, policy }, new Map());
  return plan.sites[0]?.racks[0]?.retired;
}

/** Machine m1 with NIC 1 was enrolled while it leased .150 of the window, and is released now. */
function releasedDesk(): Desk {
  const desk = new Desk();
  const window = { first: ipAddress("10.0.0.100"), last: ipAddress("10.0.0.199") };
  desk.declare({ prefix: "10.0.0.0/24", mode: "window", window });
  desk.racks = [rackOf("r1", ["10.0.0.250/24"], [leaseOf("10.0.0.150", nic(1)), leaseOf("10.0.0.151", nic(2))])];
  desk.enroll({ nics: [nic(1)], name: "m1", subnet: "1" });
  return desk;
}

const OF_M1 = { address: "10.0.0.150", hardwareAddress: nic(1), ends: NOON / 1000 + 3600 };

test("the lease of a machine is retired when the machine is released, and nobody else's", () => {
  const desk = releasedDesk();
  expect(retired(desk)).toBeUndefined();
  desk.release("m1");
  expect(retired(desk)).toEqual([OF_M1]);
  expect(retired(desk, NOON + 61 * MINUTE)).toBeUndefined();
});

test("a lease that began after the release is a stranger's, also by a rack whose clock is behind", () => {
  const desk = releasedDesk();
  desk.release("m1");
  const renewed = leaseOf("10.0.0.150", nic(1), { starts: NOON / 1000 + 5 });
  const [rack] = desk.racks;
  if (rack === undefined) throw new Error("no rack");
  desk.racks = [{ ...rack, leases: new Map([[renewed.address, renewed]]) }];
  expect(retired(desk)).toBeUndefined();
  desk.racks = [
    { ...rack, leases: new Map([[renewed.address, { ...renewed, starts: NOON / 1000 - 20 }]]), clockAheadMs: -25_000 },
  ];
  expect(retired(desk)).toBeUndefined();
});

test("a NIC that has an address again keeps its lease", () => {
  const desk = releasedDesk();
  desk.release("m1");
  desk.enroll({ nics: [nic(1)], name: "m2", subnet: "1" });
  expect(retired(desk)).toBeUndefined();
});

test("leases without an end, abandoned and ended ones are none of it", () => {
  const desk = releasedDesk();
  desk.release("m1");
  const [rack] = desk.racks;
  if (rack === undefined) throw new Error("no rack");
  for (const change of [
    { ends: "never" as const },
    { ends: null },
    { state: "abandoned" as const },
    { state: "free" as const },
    { starts: null },
  ]) {
    const lease = leaseOf("10.0.0.150", nic(1), change);
    desk.racks = [{ ...rack, leases: new Map([[lease.address, lease]]) }];
    expect(retired(desk)).toBeUndefined();
  }
});
