import { describe, expect, test } from "vitest";
import { codes, Desk, leaseOf, MINUTE, nic, NOON, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import type { Result } from "../problem.js";
import { allocateMany } from "./allocate-many.js";
import { checkLedger } from "./check-ledger.js";
import { addVipOwner, removeVipOwner } from "./change-vip.js";
import { changeSubnet, removeSubnet } from "./declare-subnet.js";
import { enlistMachine } from "./enlist-machine.js";
import type { Allocated } from "./keep-allocation.js";
import { releaseAllocation } from "./release-allocation.js";
import { unreserve } from "./reserve.js";

/** Machines m1 and m2 at .1 and .2 of 10.0.0.0/28. */
function deskWithTwo(): Desk {
  const desk = new Desk();
  desk.declare({ prefix: "10.0.0.0/28" });
  for (const number of [1, 2]) expect(codes(desk.enroll({ nics: [nic(number)], name: `m${number}`, subnet: "1" }))).toEqual([]);
  return desk;
}

function given(result: Result<Allocated>): string {
  return result.ok ? `${result.value.allocation.address}${result.value.created ? "" : " again"}` : codes(result).join(" ");
}

function names(desk: Desk): string[] {
  return [...desk.state.allocations.values()].map(({ address, name }) => `${address} ${name}`).sort();
}

describe("additional addresses", () => {
  test("come one a request, the same for the same key, and only for an enrolled machine", () => {
    const desk = deskWithTwo();
    expect(given(desk.add({ machine: "m1", key: "a" }))).toBe("10.0.0.3");
    expect(given(desk.add({ machine: nic(1), key: "a" }))).toBe("10.0.0.3 again");
    expect(given(desk.add({ machine: "m2", key: "a" }))).toBe("10.0.0.4");
    expect(given(desk.add({ machine: "m1" }))).toBe("10.0.0.5");
    expect(given(desk.add({ machine: "m1" }))).toBe("10.0.0.6");
    expect(given(desk.add({ machine: "m1", address: ipAddress("10.0.0.6") }))).toBe("10.0.0.6 again");
    expect(given(desk.add({ machine: "m2", address: ipAddress("10.0.0.6") }))).toBe("address-taken");
    expect(given(desk.add({ machine: "m1", key: "a", address: ipAddress("10.0.0.9") }))).toBe("owner-key-taken");
    expect(given(desk.add({ machine: "m1", key: "a b" }))).toBe("owner-key-invalid");
    expect(given(desk.add({ machine: "m1", key: "n", name: "m2" }))).toBe("name-taken");
    expect(given(desk.add({ machine: "m1", key: "n", name: "ip-10-0-0-1" }))).toBe("name-premade-of-other");
    desk.apply(enlistMachine(desk.state, { nics: [nic(3)], name: "m3" }, desk.context()));
    expect(given(desk.add({ machine: "m3" }))).toBe("machine-not-enrolled");
    expect(checkLedger(desk.state.content())).toEqual([]);
  });

  test("are served by DHCP only where asked, to a NIC that is served none there yet", () => {
    const desk = deskWithTwo();
    expect(given(desk.add({ machine: "m1", delivery: "dhcp" }))).toBe("nic-in-use");
    desk.state.apply({
      table: "machine",
      before: desk.state.machines.get("m-1") ?? null,
      after: { id: "m-1", name: "m1", state: "enrolled", nics: [nic(1), nic(11)], createdAt: NOON },
    });
    expect(given(desk.add({ machine: "m1", delivery: "dhcp" }))).toBe("10.0.0.3");
    expect([...desk.state.allocations.values()].at(-1)).toMatchObject({ nics: [nic(11)], delivery: "dhcp" });
    expect(given(desk.add({ machine: "m1", delivery: "both", nic: nic(11) }))).toBe("nic-in-use");
    expect(given(desk.add({ machine: "m1", delivery: "dhcp", nic: nic(2) }))).toBe("nic-unknown");
    expect(given(desk.add({ machine: "m1", nic: nic(1) }))).toBe("nic-without-dhcp");
  });

  test("rest when they go, alone or with the machine; a machine's own address goes with it only", () => {
    const desk = deskWithTwo();
    for (const key of ["a", "b"]) desk.add({ machine: "m1", key });
    expect(codes(desk.apply(releaseAllocation(desk.state, "10.0.0.1", desk.now)))).toEqual(["allocation-of-machine"]);
    expect(codes(desk.apply(releaseAllocation(desk.state, "ip-10-0-0-3.rack.example", desk.now)))).toEqual([]);
    expect(given(desk.add({ machine: "m2", address: ipAddress("10.0.0.3") }))).toBe("address-resting");
    desk.release("m1");
    expect(desk.state.allocations.size).toBe(1);
    expect([...desk.state.quarantines.values()].map(({ address }) => address).sort()).toEqual([
      "10.0.0.1",
      "10.0.0.3",
      "10.0.0.4",
    ]);
    desk.now += 30 * MINUTE;
    expect(given(desk.add({ machine: "m2", address: ipAddress("10.0.0.3") }))).toBe("10.0.0.3");
  });
});

describe("VIPs", () => {
  test("need owners that exist and are not released, and are freed with the last one", () => {
    const desk = deskWithTwo();
    expect(given(desk.vip({ owners: [] }))).toBe("owners-missing");
    expect(codes(desk.vip({ owners: ["m1", "nobody", "m9"] }))).toEqual(["machine-unknown", "machine-unknown"]);
    expect(given(desk.vip({ owners: ["m1", nic(1)], key: "front", name: "front" }))).toBe("10.0.0.3");
    const vip = (): unknown => [...desk.state.allocations.values()].find(({ kind }) => kind === "vip")?.owners;
    expect(vip()).toEqual(["m-1"]);
    expect(given(desk.vip({ owners: ["m2"], key: "front" }))).toBe("10.0.0.3 again");
    expect(vip()).toEqual(["m-1", "m-2"]);
    expect(codes(desk.apply(addVipOwner(desk.state, { vip: "10.0.0.1", machine: "m1" })))).toEqual(["vip-unknown"]);
    desk.release("m1");
    expect(vip()).toEqual(["m-2"]);
    expect(codes(desk.apply(addVipOwner(desk.state, { vip: "front", machine: "m-1" })))).toEqual(["machine-released"]);
    expect(codes(desk.apply(removeVipOwner(desk.state, { vip: "front", machine: "m-1" }, desk.now)))).toEqual([]);
    desk.apply(removeVipOwner(desk.state, { vip: "front.rack.example", machine: nic(2) }, desk.now));
    expect(vip()).toBeUndefined();
    expect(desk.state.quarantines.has("default 10.0.0.3")).toBe(true);
  });

  test("may be what racks carry as virtual, never a rack's real address or a client's lease", () => {
    const desk = deskWithTwo();
    desk.racks = [rackOf("r1", ["10.0.0.9/28", "10.0.0.10/32"], [leaseOf("10.0.0.11", nic(77))])];
    const wish = (address: string): string => given(desk.vip({ owners: ["m1"], address: ipAddress(address) }));
    expect(["10.0.0.9", "10.0.0.10", "10.0.0.11", "10.0.0.1"].map(wish)).toEqual([
      "address-held-by-rack",
      "10.0.0.10",
      "address-held-by-lease",
      "address-taken",
    ]);
    expect(wish("10.0.0.10")).toBe("10.0.0.10 again");
    expect(given(desk.vip({ owners: ["m2"], address: ipAddress("10.0.0.10") }))).toBe("address-taken");
  });
});

describe("machines", () => {
  test("are renamed with their addresses' names, in every zone once", () => {
    const desk = deskWithTwo();
    desk.declare({ prefix: "10.1.0.0/28" });
    desk.declare({ prefix: "10.2.0.0/28", domain: "b.example" });
    for (const subnet of ["2", "3"]) desk.enroll({ nics: [nic(1)], subnet });
    expect(codes(desk.change("m1", { name: "m2" }))).toEqual(["name-taken"]);
    expect(codes(desk.change("m1", { name: "ip-10-0-0-2" }))).toEqual(["name-premade-of-other", "name-premade-of-other"]);
    expect(codes(desk.change("m1", { name: "Web_1" }))).toEqual(["label-characters"]);
    desk.racks = [rackOf("r1", ["10.0.0.9/28"])];
    expect(codes(desk.change("m1", { name: "rack-r1" }))).toContain("name-of-rack");
    expect(codes(desk.change("m1", { name: "Bücher" }))).toEqual([]);
    expect(names(desk)).toEqual([
      "10.0.0.1 xn--bcher-kva.rack.example",
      "10.0.0.2 m2.rack.example",
      "10.1.0.1 ip-10-1-0-1.rack.example",
      "10.2.0.1 xn--bcher-kva.b.example",
    ]);
    expect(codes(desk.change("m2", { name: "m1" }))).toEqual([]);
    expect(codes(desk.change("xn--bcher-kva", { name: null }))).toEqual([]);
    expect(names(desk)[0]).toBe("10.0.0.1 ip-10-0-0-1.rack.example");
    expect(checkLedger(desk.state.content())).toEqual([]);
  });

  test("get NICs that nobody uses and lose all but those that carry an address alone", () => {
    const desk = deskWithTwo();
    expect(codes(desk.change("m1", { addNics: [nic(2)] }))).toEqual(["nic-on-two-machines"]);
    desk.release("m2");
    expect(codes(desk.change("m1", { addNics: [nic(2), nic(3)] }))).toEqual([]);
    expect(desk.state.machines.has("m-2")).toBe(false);
    expect([...desk.state.allocations.values()].map(({ nics }) => nics)).toEqual([[nic(1), nic(2), nic(3)]]);
    expect(codes(desk.change("m1", { removeNics: [nic(1), nic(2), nic(3)] }))).toContain("nics-missing");
    expect(codes(desk.change("m1", { removeNics: [nic(9)] }))).toEqual(["nic-unknown"]);
    expect(codes(desk.change("m1", { removeNics: [nic(1)], addNics: [nic(1)] }))).toEqual(["nic-added-and-removed"]);
    expect(codes(desk.change("m1", { removeNics: [nic(1), nic(2)] }))).toEqual([]);
    expect([...desk.state.allocations.values()].map(({ nics }) => nics)).toEqual([[nic(3)]]);
    expect(desk.state.machineOfNic.get(nic(1))).toBeUndefined();
    desk.release("m1");
    expect(codes(desk.change("m1", { name: "x" }))).toEqual(["machine-released"]);
  });
});

describe("many at once", () => {
  test("are all given or none, and the refusal names every one", () => {
    const desk = deskWithTwo();
    const before = desk.state.content();
    const many = (requests: Parameters<typeof allocateMany>[1]) => desk.apply(allocateMany(desk.state, requests, desk.context()));
    const wanted = Array.from({ length: 13 }, () => ({ kind: "additional" as const, machine: "m1" }));
    const refused = many(wanted);
    expect(refused).toMatchObject({ problems: [{ code: "subnet-exhausted", at: "items[12].subnet 1" }] });
    expect(desk.state.content()).toEqual(before);
    expect(codes(many([]))).toEqual(["items-count"]);
    const all = many(wanted.slice(1));
    expect(all.ok ? new Set(all.value.map(({ allocation }) => allocation.address)).size : 0).toBe(12);
  });
});

describe("reservations", () => {
  test("are never given, and are refused over what is given or kept already", () => {
    const desk = deskWithTwo();
    expect(codes(desk.reserve("10.0.0.1", "10.0.0.4"))).toEqual(["reservation-over-allocations"]);
    expect(codes(desk.reserve("10.0.0.4", "10.0.0.3"))).toEqual(["reservation-inverted"]);
    expect(codes(desk.reserve("10.0.0.14", "10.0.0.17"))).toEqual(["reservation-outside"]);
    expect(codes(desk.reserve("10.0.9.1"))).toEqual(["address-outside"]);
    expect(codes(desk.reserve("10.0.0.3", "10.0.0.12"))).toEqual([]);
    expect(codes(desk.reserve("10.0.0.12", "10.0.0.13"))).toEqual(["reservation-overlaps"]);
    expect(given(desk.add({ machine: "m1", address: ipAddress("10.0.0.7") }))).toBe("address-reserved");
    expect([1, 2, 3].map(() => given(desk.add({ machine: "m1" })))).toEqual(["10.0.0.13", "10.0.0.14", "subnet-exhausted"]);
    expect(codes(desk.apply(unreserve(desk.state, "10.0.0.3")))).toEqual([]);
    expect(given(desk.add({ machine: "m1" }))).toBe("10.0.0.3");
    expect(codes(desk.apply(unreserve(desk.state, "10.0.0.3")))).toEqual(["reservation-unknown"]);
  });

  test("a released address that is reserved since is given to nobody, and goes with its subnet", () => {
    const desk = deskWithTwo();
    desk.release("m2");
    desk.now += 60 * MINUTE;
    expect(codes(desk.reserve("10.0.0.2", "10.0.0.14", "exclusion"))).toEqual([]);
    expect(given(desk.add({ machine: "m1" }))).toBe("subnet-exhausted");
    desk.release("m1");
    expect(codes(desk.apply(removeSubnet(desk.state, { id: 1 }, desk.now)))).toEqual([]);
    expect(desk.state.reservations.size).toBe(0);
  });
});

describe("records", () => {
  test.each([
    ["db.rack.example", "A", "192.0.2.1", []],
    ["DB.Rack.Example.", "AAAA", "2001:DB8::1", []],
    ["rack.example", "TXT", "v=spf1 -all", []],
    ["rack.example", "A", "192.0.2.1", []],
    ["_dmarc.rack.example", "TXT", "x", []],
    ["m1.rack.example", "TXT", "a note", []],
    ["münchen.rack.example", "A", "192.0.2.1", []],
    ["rack.example", "CNAME", "a.example", ["cname-beside-others"]],
    ["a.other.example", "A", "192.0.2.1", ["name-outside-domains"]],
    ["m1.rack.example", "A", "192.0.2.1", ["name-taken"]],
    ["m1.rack.example", "CNAME", "m2.rack.example", ["name-taken"]],
    ["ip-10-0-0-9.rack.example", "A", "10.0.0.9", ["name-premade-of-other"]],
    ["ip-10-0-0-9.rack.example", "TXT", "x", ["name-premade-of-other"]],
    ["rack-r1.rack.example", "CNAME", "m1.rack.example", ["name-of-rack"]],
    ["localhost.rack.example", "A", "192.0.2.1", ["name-reserved"]],
    ["*.rack.example", "A", "192.0.2.1", ["label-characters"]],
    ["a b.rack.example", "A", "192.0.2.1", ["label-characters"]],
    ["שלום.rack.example", "A", "192.0.2.1", ["label-not-ascii"]],
    ["x.rack.example", "A", "2001:db8::1", ["record-value-invalid"]],
    ["x.rack.example", "AAAA", "192.0.2.1", ["record-value-invalid"]],
    ["x.rack.example", "CNAME", "192.0.2.1", ["record-value-invalid"]],
    ["x.rack.example", "CNAME", "X.rack.example.", ["record-value-invalid"]],
    ["x.rack.example", "TXT", "line\nbreak", ["record-value-invalid"]],
    ["x.rack.example", "TXT", "x".repeat(256), ["record-value-invalid"]],
  ] as const)("%s %s %s: %j", (name, type, value, refusals) => {
    const desk = deskWithTwo();
    desk.racks = [rackOf("r1", ["10.0.0.9/28"])];
    expect(codes(desk.record(name, type, value))).toEqual(refusals);
    expect(checkLedger(desk.state.content())).toEqual([]);
  });

  test("an alias stands alone, does not loop, and keeps its name from machines", () => {
    const desk = deskWithTwo();
    expect(codes(desk.record("db.rack.example", "CNAME", "m1.rack.example"))).toEqual([]);
    expect(desk.record("db.rack.example", "CNAME", "m1.rack.example")).toMatchObject({ value: { created: false } });
    expect(codes(desk.record("db.rack.example", "CNAME", "m2.rack.example"))).toEqual(["cname-beside-others"]);
    expect(codes(desk.record("db.rack.example", "TXT", "x"))).toEqual(["cname-beside-others"]);
    expect(codes(desk.record("a.rack.example", "CNAME", "b.rack.example"))).toEqual([]);
    expect(codes(desk.record("b.rack.example", "CNAME", "a.rack.example"))).toEqual(["cname-loop"]);
    expect(codes(desk.enroll({ nics: [nic(3)], name: "db", subnet: "1" }))).toEqual(["name-taken"]);
    expect(codes(desk.change("m1", { name: "db" }))).toEqual(["name-taken"]);
    expect(codes(desk.vip({ owners: ["m1"], name: "db" }))).toEqual(["name-taken"]);
  });

  test("hold their domain: its last subnet neither goes nor takes another domain", () => {
    const desk = new Desk();
    desk.declare({ prefix: "10.0.0.0/28" });
    desk.record("db.rack.example", "A", "192.0.2.1");
    const rename = { id: 1, change: { domain: "new.example" } };
    expect(codes(desk.apply(changeSubnet(desk.state, rename, desk.now)))).toEqual(["domain-in-use"]);
    expect(codes(desk.apply(removeSubnet(desk.state, { id: 1 }, desk.now)))).toEqual(["domain-in-use"]);
    desk.declare({ prefix: "10.1.0.0/28" });
    expect(codes(desk.apply(changeSubnet(desk.state, rename, desk.now)))).toEqual([]);
  });
});
