import { ipAddress } from "@berth/core";
import { createLog, systemClock } from "@berth/host";
import { expect, test } from "vitest";
import { nic } from "../../../../test/fixtures/alloc/build.js";
import { createMemoryStore, MemoryDisk } from "../store/memory-store.js";
import type { Store } from "../store/store.js";
import type { Ledger } from "./ledger.js";
import { openLedger } from "./open-ledger.js";

const ports = { clock: systemClock, log: createLog({ level: "silent", write: () => undefined }), racks: () => [] };

/** A store whose commits wait, each until it is let go. */
function held(): { store: Pick<Store, "ledger">; hold: () => void; next: () => Promise<(failing: boolean) => void> } {
  const { ledger } = createMemoryStore(new MemoryDisk());
  let holding = false;
  const waiting: ((go: (failing: boolean) => void) => void)[] = [];
  const commit: Store["ledger"]["commit"] = async (changes, audit) => {
    if (!holding) return ledger.commit(changes, audit);
    const failing = await new Promise<boolean>((go) => waiting.shift()?.(go));
    if (failing) throw new Error("the disk is gone");
    return ledger.commit(changes, audit);
  };
  const store = { ledger: { load: () => ledger.load(), loadState: () => ledger.loadState(), commit, shared: null } };
  return { store, hold: () => void (holding = true), next: () => new Promise((resolve) => waiting.push(resolve)) };
}

/** Everything a reader can ask, for the machines and names of this test. */
function reads(ledger: Ledger): unknown {
  const nics = [1, 2, 3, 4].map(nic);
  const machines = byId(ledger.machines());
  const allocations = byId(ledger.allocations());
  return {
    lists: [ledger.subnets(), machines, allocations, ledger.quarantines(), ledger.reservations(), ledger.records()].map(sorted),
    ofMachines: machines.map(({ id }) => [ledger.machine(id), sorted(ledger.allocationsOf(id))]),
    ofAllocations: allocations.map(({ id, address, name }) => [
      ledger.allocation(id),
      ledger.allocationsAt(address),
      ledger.allocationsNamed(name),
    ]),
    named: ["vip", "new", "m2"].map((label) => ledger.allocationsNamed(`${label}.a.example`)),
    ofNics: nics.map((each) => [ledger.machineWith(each), sorted(ledger.quarantinesOf(each))]),
    ofSubnets: [1, 2].map((id) => [sorted(ledger.allocationsIn(id)), sorted(ledger.quarantinesIn(id)), ledger.usage(id)]),
    vips: sorted(ledger.vips()),
    count: ledger.allocationCount(),
  };
}

function byId<T extends { readonly id: string }>(records: readonly T[]): readonly T[] {
  return records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function sorted(records: readonly unknown[]): readonly string[] {
  return records.map((record) => JSON.stringify(record)).sort();
}

test("while a commit is under way readers see what was before it, whatever they ask, and after it all of it; of one that fails nothing", async () => {
  const { store, hold, next } = held();
  const ledger = await openLedger({ ...ports, store });
  await ledger.createSubnet({ prefix: "10.0.1.0/27", domain: "a.example", mode: "static" });
  for (const [number, name] of [
    [1, null],
    [2, "m2"],
    [3, null],
  ] as const)
    await ledger.enroll({ nics: [nic(number)], subnet: "1", name });
  await ledger.release(nic(3));
  await ledger.allocate({ kind: "vip", subnet: "1", owners: [nic(1)], name: "vip" });
  hold();
  for (const failing of [true, false]) {
    const before = reads(ledger);
    const go = next();
    const all = Promise.allSettled([
      ledger.createSubnet({ prefix: "10.0.2.0/27", domain: "b.example", mode: "static" }),
      ledger.enroll({ nics: [nic(4)], subnet: "1", name: "new" }),
      ledger.enroll({ nics: [nic(3)], subnet: "1" }),
      ledger.enroll({ nics: [nic(4)], subnet: "2" }),
      ledger.release(nic(2)),
      ledger.releaseAllocation("vip.a.example"),
      ledger.changeMachine(nic(1), { name: "renamed", addNics: [] }),
      ledger.addRecord({ name: "t.a.example", type: "TXT", value: "x" }),
      ledger.reserve({ subnet: "1", first: ipAddress("10.0.1.20"), last: ipAddress("10.0.1.21"), kind: "reservation", note: "" }),
    ]);
    const letGo = await go;
    expect(reads(ledger)).toEqual(before);
    letGo(failing);
    const outcomes = await all;
    expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => (failing ? "rejected" : "fulfilled")));
    if (failing) expect(reads(ledger)).toEqual(before);
    else expect(outcomes.map((outcome) => outcome.status === "fulfilled" && outcome.value.ok)).toEqual(outcomes.map(() => true));
    if (!failing) expect(reads(ledger)).not.toEqual(before);
  }
  expect(ledger.allocationCount()).toBe(ledger.allocations().length);
});
