import { describe, expect, test } from "vitest";
import { codes, Desk, leaseOf, MINUTE, nic, NOON, outcome, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { parseHardwareAddress } from "../address/hardware.js";
import { ipAddress } from "../address/ip.js";
import type { SubnetRequest } from "./request.js";

function deskWith(request: Partial<SubnetRequest> = {}): Desk {
  const desk = new Desk();
  const subnet = desk.declare({ prefix: "192.168.50.0/24", gateway: ipAddress("192.168.50.1"), ...request });
  expect(codes(subnet)).toEqual([]);
  return desk;
}

describe("which address", () => {
  test("the lowest that nothing holds: not the network, gateway, pinned servers, reserved ranges, window, racks, leases", () => {
    const desk = deskWith({
      prefix: "192.168.50.0/28",
      mode: "window",
      window: { first: ipAddress("192.168.50.5"), last: ipAddress("192.168.50.6") },
      reserved: [{ first: ipAddress("192.168.50.2"), last: ipAddress("192.168.50.2") }],
      dns: [ipAddress("192.168.50.3")],
      ntp: [ipAddress("192.168.50.4"), ipAddress("10.9.9.9")],
    });
    const states = [
      leaseOf("192.168.50.8", nic(77)),
      leaseOf("192.168.50.9", null, { state: "abandoned" }),
      leaseOf("192.168.50.10", nic(78), { state: "backup" }),
      leaseOf("192.168.50.11", nic(79), { state: "unknown" }),
      leaseOf("192.168.50.12", nic(80), { state: "free", inUse: false, allocatable: true, ends: NOON / 1000 - 7200 }),
    ];
    desk.racks = [rackOf("r1", ["192.168.50.7/28", "192.168.50.13/32"], states)];
    expect([1, 2, 3].map((number) => outcome(desk.enroll({ nics: [nic(number)], subnet: "1" })))).toEqual([
      "192.168.50.12",
      "192.168.50.14",
      "subnet-exhausted",
    ]);
  });

  test("exhaustion is its own answer, with counts and the next end of a rest", () => {
    const desk = deskWith({
      prefix: "192.168.50.0/29",
      reserved: [{ first: ipAddress("192.168.50.0"), last: ipAddress("192.168.50.3") }],
    });
    desk.racks = [rackOf("r1", ["192.168.50.4/29"])];
    desk.enroll({ nics: [nic(1)], subnet: "1" });
    desk.enroll({ nics: [nic(2)], subnet: "1" });
    desk.release(nic(2));
    expect(desk.enroll({ nics: [nic(3)], subnet: "1" })).toMatchObject({
      problems: [
        {
          code: "subnet-exhausted",
          at: "subnet 1",
          message:
            "192.168.50.0/29 has no address to give: 6 usable, 1 allocated, 3 set aside, 1 released before, 1 in use by racks or leases; " +
            `the next one has rested at ${new Date(NOON + 30 * MINUTE).toISOString()}`,
        },
      ],
    });
  });

  test("all of a /31 and a /32 are usable", () => {
    const desk = deskWith({ prefix: "192.168.50.0/31", gateway: null });
    desk.declare({ prefix: "10.0.0.7/32", domain: "b.example" });
    expect([1, 2, 3].map((number) => outcome(desk.enroll({ nics: [nic(number)], subnet: "1" })))).toEqual([
      "192.168.50.0",
      "192.168.50.1",
      "subnet-exhausted",
    ]);
    expect(outcome(desk.enroll({ nics: [nic(4)], subnet: "2" }))).toBe("10.0.0.7");
  });

  test.each([
    ["192.168.51.9", "address-outside"],
    ["192.168.50.0", "address-not-for-hosts"],
    ["192.168.50.255", "address-not-for-hosts"],
    ["192.168.50.1", "address-is-gateway"],
    ["192.168.50.2", "address-is-server"],
    ["192.168.50.31", "address-reserved"],
    ["192.168.50.200", "address-in-window"],
    ["192.168.50.60", "address-taken"],
    ["192.168.50.70", "address-held-by-rack"],
    ["192.168.50.71", "address-held-by-lease"],
    ["192.168.50.72", "192.168.50.72"],
  ])("%s, when asked for: %s", (address, expected) => {
    const desk = deskWith({
      mode: "window",
      window: { first: ipAddress("192.168.50.200"), last: ipAddress("192.168.50.209") },
      reserved: [{ first: ipAddress("192.168.50.30"), last: ipAddress("192.168.50.39") }],
      dns: [ipAddress("192.168.50.2")],
    });
    desk.racks = [rackOf("r1", ["192.168.50.70/24"], [leaseOf("192.168.50.71", nic(9)), leaseOf("192.168.50.72", nic(1))])];
    desk.enroll({ nics: [nic(50)], subnet: "1", address: ipAddress("192.168.50.60"), name: "db1" });
    const result = desk.enroll({ nics: [nic(1)], subnet: "1", address: ipAddress(address) });
    expect(outcome(result)).toBe(expected);
    if (expected === "address-taken") {
      expect(result).toMatchObject({
        problems: [{ message: `${address} belongs to db1.rack.example (m-1, 02:00:00:00:00:32)` }],
      });
    }
  });

  test("a lease that lapsed keeps its address for a tenth of its length, one on a silent rack until the rack speaks again", () => {
    const desk = deskWith();
    const lapsed = leaseOf("192.168.50.60", nic(9), { starts: NOON / 1000 - 610, ends: NOON / 1000 - 10 });
    const ask = () => outcome(desk.enroll({ nics: [nic(1)], subnet: "1", address: ipAddress("192.168.50.60") }));
    desk.racks = [rackOf("r1", ["192.168.50.1/24"], [lapsed])];
    expect(ask()).toBe("address-held-by-lease");
    desk.now += MINUTE;
    desk.racks = desk.racks.map((rack) => ({ ...rack, connected: false }));
    expect(ask()).toBe("address-held-by-lease");
    desk.racks = desk.racks.map((rack) => ({ ...rack, connected: true }));
    expect(ask()).toBe("192.168.50.60");
  });
});

describe("the same again", () => {
  test("the same request gives the same answer; another address for the machine is refused by the one it has", () => {
    const desk = deskWith();
    const first = desk.enroll({ nics: [nic(1)], subnet: "1", name: "DB1" });
    expect(first).toMatchObject({ value: { created: true, machine: { name: "db1" }, allocation: { name: "db1.rack.example" } } });
    const again = desk.enroll({ nics: [nic(1)], subnet: "192.168.50.0/24", name: "db1" });
    expect(again).toEqual(first.ok ? { ok: true, value: { ...first.value, created: false } } : null);
    expect(outcome(desk.enroll({ nics: [nic(1)], subnet: "1", address: ipAddress("192.168.50.2") }))).toBe("192.168.50.2");
    expect(outcome(desk.enroll({ nics: [nic(1)], subnet: "1", address: ipAddress("192.168.50.9") }))).toBe("machine-has-address");
    expect(outcome(desk.enroll({ nics: [nic(1)], subnet: "1", name: "db2" }))).toBe("machine-named-otherwise");
  });

  test("a released machine that comes back has its address and identity again; nobody else had it meanwhile", () => {
    const desk = deskWith({ prefix: "192.168.50.0/29" });
    const first = desk.enroll({ nics: [nic(1)], subnet: "1" });
    desk.release(nic(1));
    expect(desk.release(nic(1))).toMatchObject({ ok: true, value: { state: "released" } });
    expect([2, 3, 4, 5, 6].map((number) => outcome(desk.enroll({ nics: [nic(number)], subnet: "1" })))).toEqual([
      "192.168.50.3",
      "192.168.50.4",
      "192.168.50.5",
      "192.168.50.6",
      "subnet-exhausted",
    ]);
    const back = desk.enroll({ nics: [nic(1)], subnet: "1" });
    expect(back).toMatchObject({ value: { created: true, allocation: { address: "192.168.50.2" } } });
    expect(back.ok && first.ok && back.value.machine.id === first.value.machine.id).toBe(true);
    expect(desk.state.quarantines.size).toBe(0);
  });

  test("rested addresses come after those never given, the one released longest ago first, also with the clock set back", () => {
    const desk = deskWith({ prefix: "192.168.50.0/29" });
    for (const number of [1, 2, 3, 4]) desk.enroll({ nics: [nic(number)], subnet: "1" });
    for (const number of [3, 1, 4]) {
      desk.release(nic(number));
      desk.now += MINUTE;
    }
    desk.now += 30 * MINUTE;
    const give = (number: number) => outcome(desk.enroll({ nics: [nic(number)], subnet: "1" }));
    expect([give(11), give(12), give(13)]).toEqual(["192.168.50.6", "192.168.50.4", "192.168.50.2"]);
    desk.now = NOON;
    expect(give(14)).toBe("subnet-exhausted");
    desk.now += 60 * MINUTE;
    expect(give(14)).toBe("192.168.50.5");
  });
});

describe("machines and NICs", () => {
  test("NICs of two machines are refused by the machines' names; a known one may get another NIC", () => {
    const desk = deskWith();
    desk.enroll({ nics: [nic(1)], subnet: "1", name: "db1" });
    desk.enroll({ nics: [nic(2)], subnet: "1" });
    const both = desk.enroll({ nics: [nic(1), nic(2)], subnet: "1" });
    expect(both).toMatchObject({
      problems: [
        {
          code: "nic-on-two-machines",
          at: "nics",
          message: expect.stringMatching(/00:01 to db1 \(m-1\); 02:.*:02 to machine \(m-2\)/) as string,
        },
      ],
    });
    expect(outcome(desk.enroll({ nics: [nic(3), nic(1)], subnet: "1" }))).toBe("nic-on-two-machines");
    const bond = desk.enroll({ nics: [nic(1), nic(3)], subnet: "1" });
    expect(bond).toMatchObject({
      value: { created: false, machine: { nics: [nic(1), nic(3)] }, allocation: { nics: [nic(1), nic(3)] } },
    });
    expect(outcome(desk.enroll({ nics: [nic(3)], subnet: "1" }))).toBe("192.168.50.2");
  });

  test("a NIC of a released machine may move to another, and the old machine loses it", () => {
    const desk = deskWith();
    desk.enroll({ nics: [nic(1), nic(2)], subnet: "1" });
    desk.enroll({ nics: [nic(3)], subnet: "1" });
    desk.release("m-1");
    expect(desk.enroll({ nics: [nic(3), nic(2)], subnet: "1" })).toMatchObject({
      value: { machine: { id: "m-2", nics: [nic(3), nic(2)] } },
    });
    expect(desk.state.machines.get("m-1")).toMatchObject({ nics: [nic(1)], state: "released" });
  });

  test.each([
    ["nics-missing", []],
    ["nic-not-unicast", ["ff:ff:ff:ff:ff:ff"]],
    ["nic-not-unicast", ["01:00:5e:00:00:01"]],
    ["nic-not-unicast", ["00:00:00:00:00:00"]],
    ["nics-too-many", Array.from({ length: 17 }, (_, index) => `02:00:00:00:00:${index.toString(16)}`)],
  ])("%s: %j", (expected, texts) => {
    const nics = texts.flatMap((text) => parseHardwareAddress(text) ?? []);
    expect(outcome(deskWith().enroll({ nics, subnet: "1" }))).toBe(expected);
  });

  test("one machine has an address in each of several subnets, and releasing it gives back all of them", () => {
    const desk = deskWith();
    desk.declare({ prefix: "192.168.51.0/24", domain: "b.example" });
    desk.declare({ prefix: "192.168.52.0/24" });
    const names = ["1", "2", "3"].map((subnet) => desk.enroll({ nics: [nic(1)], subnet, name: "db1" }));
    expect(names.map((result) => (result.ok ? result.value.allocation.name : ""))).toEqual([
      "db1.rack.example",
      "db1.b.example",
      "ip-192-168-52-1.rack.example",
    ]);
    desk.release("db1");
    expect([desk.state.allocations.size, desk.state.quarantines.size]).toEqual([0, 3]);
  });
});

describe("names", () => {
  test.each([
    ["db1", "name-taken"],
    ["ip-192-168-50-77", "name-premade-of-other"],
    ["192.0.2.9", "name-not-label"],
    ["localhost", "name-reserved"],
    ["a_b", "label-characters"],
    ["rack-r1", "name-of-rack"],
    ["ip-192-168-50-3", "192.168.50.3"],
    ["12345", "192.168.50.3"],
  ])("%s: %s", (name, expected) => {
    const desk = deskWith();
    desk.racks = [rackOf("r1", ["192.168.50.1/24"])];
    desk.enroll({ nics: [nic(1)], subnet: "1", name: "db1" });
    expect(outcome(desk.enroll({ nics: [nic(2)], subnet: "1", name }))).toBe(expected);
  });

  test("a released machine's name is free at once", () => {
    const desk = deskWith();
    desk.enroll({ nics: [nic(1)], subnet: "1", name: "db1" });
    desk.release("db1.rack.example");
    expect(desk.enroll({ nics: [nic(2)], subnet: "1", name: "db1" })).toMatchObject({
      value: { allocation: { name: "db1.rack.example" } },
    });
    expect(desk.release("db1")).toMatchObject({ value: { nics: [nic(2)] } });
  });

  test.each(["m-77", "no-such", "02:00:00:00:00:77"])("releasing %s, which nobody knows, is refused", (machine) => {
    expect(codes(deskWith().release(machine))).toEqual(["machine-unknown"]);
  });
});

test.each(["02:00:5e", "02:00:5e:00:53", "02:00:5e:00:53:01:07"])("no NIC has the address %s", (text) => {
  const cut = parseHardwareAddress(text);
  expect(cut === null ? null : outcome(deskWith().enroll({ nics: [cut] }))).toBe("nic-malformed");
});

describe("which subnet", () => {
  test("the one of the lease that a rack saw, or of the link-local pool it serves", () => {
    const desk = deskWith({ mode: "link-local" });
    desk.declare({ prefix: "192.168.51.0/24" });
    const strangers = [leaseOf("192.168.51.200", nic(1)), leaseOf("169.254.16.9", nic(2))];
    desk.racks = [rackOf("r1", ["192.168.50.1/24", "192.168.51.1/24"], strangers)];
    expect(outcome(desk.enroll({ nics: [nic(1)] }))).toBe("192.168.51.2");
    expect(outcome(desk.enroll({ nics: [nic(2)] }))).toBe("192.168.50.2");
    expect(outcome(desk.enroll({ nics: [nic(3)] }))).toBe("machine-not-seen");
    expect(outcome(desk.enroll({ nics: [nic(3)], address: ipAddress("192.168.51.7") }))).toBe("192.168.51.7");
  });

  test("the only one there is, for a machine that nobody saw yet", () => {
    expect(outcome(deskWith().enroll({ nics: [nic(3)] }))).toBe("192.168.50.2");
  });

  test("the one in which the machine has its address already, when the lease it was seen by is gone", () => {
    const desk = deskWith();
    desk.declare({ prefix: "192.168.51.0/24" });
    desk.racks = [rackOf("r1", ["192.168.50.1/24"], [leaseOf("192.168.50.200", nic(1))])];
    const first = desk.enroll({ nics: [nic(1)], name: "db1" });
    desk.racks = [rackOf("r1", ["192.168.50.1/24"])];
    expect(desk.enroll({ nics: [nic(1)], name: "db1" })).toEqual(
      first.ok ? { ok: true, value: { ...first.value, created: false } } : null,
    );
    desk.release("db1");
    expect(outcome(desk.enroll({ nics: [nic(1)] }))).toBe("machine-not-seen");
  });

  test("the only one there is", () => {
    expect(outcome(deskWith().enroll({ nics: [nic(1)] }))).toBe("192.168.50.2");
  });

  test("of two link-local links the one whose slice the machine has an address of", () => {
    const desk = deskWith({ mode: "link-local" });
    desk.declare({ prefix: "192.168.51.0/24", mode: "link-local" });
    desk.racks = [rackOf("r1", ["192.168.50.1/24", "192.168.51.1/24"], [leaseOf("169.254.32.9", nic(1))])];
    expect(outcome(desk.enroll({ nics: [nic(1)] }))).toBe("subnet-ambiguous");
    desk.enlistmentSubnet = (rackId, address) => (rackId === "id-r1" && address.startsWith("169.254.32.") ? 2 : null);
    expect(outcome(desk.enroll({ nics: [nic(1)] }))).toBe("192.168.51.2");
  });

  test.each([
    ["9", "subnet-unknown"],
    ["192.168.99.0/24", "subnet-unknown"],
    ["192.168.50.9/24", "prefix-host-bits"],
    ["nonsense", "prefix-malformed"],
  ])("%s: %s", (subnet, expected) => {
    expect(outcome(deskWith().enroll({ nics: [nic(1)], subnet }))).toBe(expected);
  });

  test("a prefix of two sites is ambiguous", () => {
    const desk = deskWith();
    desk.declare({ prefix: "192.168.50.0/24", site: "west", domain: "west.example" });
    expect(outcome(desk.enroll({ nics: [nic(1)], subnet: "192.168.50.0/24" }))).toBe("subnet-ambiguous");
    expect(outcome(desk.enroll({ nics: [nic(1)], subnet: "2" }))).toBe("192.168.50.1");
  });
});

describe("a rack that has not taken over a release", () => {
  function exhaustedDesk(): Desk {
    const desk = deskWith({ prefix: "192.168.50.0/29" });
    desk.racks = [rackOf("r1", ["192.168.50.1/29"]), rackOf("r2", ["10.0.0.1/24"])];
    for (const number of [1, 2, 3, 4, 5]) desk.enroll({ nics: [nic(number)], subnet: "1" });
    desk.release(nic(3));
    desk.now += 300 * MINUTE;
    return desk;
  }
  const ask = (desk: Desk) => [
    outcome(desk.enroll({ nics: [nic(9)], subnet: "1" })),
    outcome(desk.enroll({ nics: [nic(8)], subnet: "1", address: ipAddress("192.168.50.4") })),
  ];

  test("keeps the address from everybody but its last holder, however long it takes", () => {
    const desk = exhaustedDesk();
    desk.withdrawnAt = () => null;
    expect(ask(desk)).toEqual(["subnet-exhausted", "address-resting"]);
    expect(outcome(desk.enroll({ nics: [nic(3)], subnet: "1" }))).toBe("192.168.50.4");
  });

  test("and the rest counts from when it did; racks of other subnets do not matter", () => {
    const desk = exhaustedDesk();
    desk.withdrawnAt = (rackId) => (rackId === "id-r1" ? desk.now - 29 * MINUTE : null);
    expect(ask(desk)).toEqual(["subnet-exhausted", "address-resting"]);
    desk.withdrawnAt = (rackId) => (rackId === "id-r1" ? desk.now - 30 * MINUTE : null);
    expect(ask(desk)).toEqual(["192.168.50.4", "address-taken"]);
  });
});
