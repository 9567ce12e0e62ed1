import { expect, test } from "vitest";
import { codes, Desk, leaseOf, MINUTE, nic, NOON, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { changeSubnet, removeSubnet } from "./declare-subnet.js";
import { planRacks } from "../plan/plan-racks.js";

const windowOf = (last: number): { first: ReturnType<typeof ipAddress>; last: ReturnType<typeof ipAddress> } => ({
  first: ipAddress("10.0.0.100"),
  last: ipAddress(`10.0.0.${last}`),
});

/** Two strangers lease .110 and .150 of the window, for an hour yet. */
function deskWithStrangers(): Desk {
  const desk = new Desk();
  desk.declare({ prefix: "10.0.0.0/24", mode: "window", window: windowOf(199), leaseTime: 600, maxLeaseTime: 7200 });
  desk.racks = [rackOf("r1", ["10.0.0.250/24"], [leaseOf("10.0.0.110", nic(1)), leaseOf("10.0.0.150", nic(2))])];
  return desk;
}

/** As dhcpd leaves it after its start: what is in no range is gone from its file. */
function forget(desk: Desk, address: string): void {
  desk.racks = desk.racks.map((rack) => ({ ...rack, leases: new Map([...rack.leases].filter(([key]) => key !== address)) }));
}

const resting = (desk: Desk): string[] => [...desk.state.quarantines.values()].map(({ address }) => address).sort();

test("what leaves a window while somebody leases it is given to nobody else before his lease can have ended", () => {
  const desk = deskWithStrangers();
  desk.apply(changeSubnet(desk.state, { id: 1, change: { window: windowOf(120) }, racks: desk.racks }, NOON));
  forget(desk, "10.0.0.150");
  expect(resting(desk)).toEqual(["10.0.0.150"]);
  const ask = (number: number): readonly string[] =>
    codes(desk.enroll({ nics: [nic(number)], subnet: "1", address: ipAddress("10.0.0.150") }));
  expect(ask(9)).toEqual(["address-resting"]);
  desk.now = NOON + 131 * MINUTE;
  expect(ask(9)).toEqual(["address-resting"]);
  desk.now = NOON + 133 * MINUTE; // two hours may be asked for at the last moment, and a tenth more
  expect(ask(9)).toEqual([]);
});

test("its holder may keep it as its own", () => {
  const desk = deskWithStrangers();
  desk.apply(changeSubnet(desk.state, { id: 1, change: { mode: "static" }, racks: desk.racks }, NOON));
  expect(resting(desk)).toEqual(["10.0.0.110", "10.0.0.150"]);
  forget(desk, "10.0.0.150");
  expect(codes(desk.enroll({ nics: [nic(2)], subnet: "1", address: ipAddress("10.0.0.150") }))).toEqual([]);
});

test("so it is for reservations taken back, for windows that grow again and for removed subnets", () => {
  const desk = deskWithStrangers();
  desk.reserve("10.0.0.150");
  forget(desk, "10.0.0.150");
  const [reservation] = [...desk.state.reservations.values()];
  if (reservation === undefined) throw new Error("no reservation");
  desk.state.apply({ table: "reservation", before: reservation, after: null });
  const policy = { forwarders: [], mailbox: null, ntpUpstreams: [] };
  const plan = planRacks({ ...desk.state.content(), racks: desk.racks, now: NOON + MINUTE, policy }, new Map());
  expect(plan.sites[0]?.racks[0]?.subnets[0]?.excluded).toContain("10.0.0.150");
  desk.apply(removeSubnet(desk.state, { id: 1, racks: desk.racks }, NOON));
  expect(resting(desk)).toEqual(["10.0.0.110", "10.0.0.150"]);
});

test("ended leases, other sites and what stays in the window rest nowhere", () => {
  const desk = deskWithStrangers();
  const ended = leaseOf("10.0.0.151", nic(3), { starts: NOON / 1000 - 7200, ends: NOON / 1000 - 3600 });
  desk.racks = [
    rackOf("r1", ["10.0.0.250/24"], [leaseOf("10.0.0.110", nic(1)), ended]),
    { ...rackOf("r2", ["10.0.0.250/24"], [leaseOf("10.0.0.152", nic(4))]), site: "other" },
  ];
  desk.apply(changeSubnet(desk.state, { id: 1, change: { window: windowOf(120) }, racks: desk.racks }, NOON));
  expect(resting(desk)).toEqual([]);
});
