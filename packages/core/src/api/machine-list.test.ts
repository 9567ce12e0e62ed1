import { describe, expect, it } from "vitest";
import type { HardwareAddress } from "../address/hardware.js";
import { parseHardwareAddress } from "../address/hardware.js";
import { ipAddress } from "../address/ip.js";
import type { Machine } from "../ipam/model.js";
import type { LeaseReport } from "../protocol/messages.js";
import type { RackView } from "../topology/rack-view.js";
import { reportedLeases, type ReportedLease } from "./lease-view.js";
import { findMachineView, listMachines, viewMachine, type MachineSources } from "./machine-list.js";

const NOW_MS = 1_800_000_000_000;

function nic(last: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:00:${last.toString(16)}`);
  if (address === null) throw new Error(`no NIC ends in ${last}`);
  return address;
}

function lease(address: string, last: number, change: Partial<LeaseReport> = {}): LeaseReport {
  const starts = NOW_MS / 1000 - 60;
  const base = { state: "active", inUse: true, allocatable: false, dnsLabel: null, starts, ends: starts + 120 } as const;
  return { ...base, address: ipAddress(address), hardwareAddress: nic(last), ...change };
}

function rack(name: string, leases: readonly LeaseReport[]): RackView {
  return {
    ...{ id: name, name, site: "default", joinedAt: 0, connected: true, lastSeenAt: NOW_MS, interfaces: [], interfacesAt: null },
    ...{ leases: new Map(leases.map((entry) => [entry.address, entry])), accepted: 0, daemons: [], problems: [] },
  };
}

function machine(id: string, nics: readonly number[], state: Machine["state"] = "enrolled"): Machine {
  return { id, name: null, state, nics: nics.map(nic), createdAt: NOW_MS };
}

function sources(machines: readonly Machine[], racks: readonly RackView[]): MachineSources {
  return { machines, racks, allocations: [], subnets: [], nowMs: NOW_MS };
}

describe("listMachines", () => {
  it("makes one sighting of a NIC that has several leases in use, the newest first", () => {
    const older = lease("169.254.1.9", 1, { starts: NOW_MS / 1000 - 90 });
    const views = listMachines(sources([], [rack("r1", [older]), rack("r2", [lease("10.0.0.5", 1)])]));
    expect(views).toMatchObject([
      { state: "sighted", id: null, rack: "r2", leases: [{ address: "10.0.0.5" }, { address: "169.254.1.9" }] },
    ]);
  });

  it.each([
    ["over by its state", { inUse: false, state: "released" }],
    ["over by the clock", { ends: NOW_MS / 1000 }],
    ["of an unknown NIC", { hardwareAddress: null }],
  ] as const)("makes none of a lease %s", (_what, change) => {
    expect(listMachines(sources([], [rack("r1", [lease("10.0.0.5", 1, change)])]))).toEqual([]);
  });

  it.each([{ ends: null }, { ends: "never" }] as const)("counts a lease with end %j as in use", (change) => {
    expect(listMachines(sources([], [rack("r1", [lease("10.0.0.5", 1, change)])]))).toHaveLength(1);
  });

  it("gives the leases of all NICs of a bond to its machine, and remembers where it was seen when they are over", () => {
    const bond = machine("m1", [1, 2]);
    const reports = [lease("10.0.0.5", 2), lease("10.0.0.6", 1, { inUse: false, starts: NOW_MS / 1000 - 10 })];
    const [view, ...others] = listMachines(sources([bond], [rack("r1", reports)]));
    expect(others).toEqual([]);
    expect(view).toMatchObject({
      id: "m1",
      rack: "r1",
      seenAt: new Date(NOW_MS - 10_000).toISOString(),
      leases: [{ address: "10.0.0.5" }],
    });
  });

  it("gives a NIC to the living machine, wherever the released one stands", () => {
    const released = machine("old", [1], "released");
    const living = machine("new", [1]);
    for (const machines of [
      [released, living],
      [living, released],
    ]) {
      const views = listMachines(sources(machines, [rack("r1", [lease("10.0.0.5", 1)])]));
      expect(findMachineView(views, "new")?.leases).toHaveLength(1);
      expect(findMachineView(views, "old")?.leases).toEqual([]);
      expect(findMachineView(views, nic(1))?.id).toBe("new");
    }
  });

  it("views one machine as the whole list does", () => {
    const all = sources([machine("m1", [1, 2]), machine("m2", [3])], [rack("r1", [lease("10.0.0.5", 2), lease("10.0.0.6", 3)])]);
    const leasesOf = (asked: HardwareAddress): ReportedLease[] =>
      [...reportedLeases(all.racks)].filter(({ lease: { hardwareAddress } }) => hardwareAddress === asked);
    for (const one of all.machines) {
      const own = { ...all, allocations: all.allocations.filter(({ machineId }) => machineId === one.id), leasesOf };
      expect(viewMachine(one, own)).toEqual(findMachineView(listMachines(all), one.id));
    }
  });
});
