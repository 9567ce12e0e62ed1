import fc from "fast-check";
import { expect, test } from "vitest";
import { addressFromValue, ipv4FromNumber, type IpAddress } from "../../address/ip.js";
import type { HardwareAddress } from "../../address/hardware.js";
import { premadeLabel } from "../../names/premade.js";
import { OctetReader } from "../../packed/octet-reader.js";
import { OctetWriter } from "../../packed/octet-writer.js";
import type { RowCodec } from "../../packed/row-table.js";
import { EMPTY_LEDGER, LedgerState } from "../ledger-state.js";
import type { Allocation, Machine, Subnet } from "../model.js";
import { AllocationCodec } from "./allocation-codec.js";
import { Interned } from "./interned.js";
import { machineCodec } from "./machine-codec.js";

const DIGITS = [..."0123456789abcdefghjkmnpqrstvwxyz"];
const ownId = (kind: string): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...DIGITS), { minLength: 16, maxLength: 16 }).map((digits) => `${kind}-${digits.join("")}`);
/** Ids of ours, and texts that only look like them. */
const id = fc.oneof(
  ownId("a"),
  ownId("m"),
  ownId("z"),
  fc.constantFrom("a-1", "m-000000000000000l", "m_0000000000000000", "é-0000000000000000"),
  fc.string(),
);
const octets = fc.uint8Array({ minLength: 1, maxLength: 20 });
const nic = octets.map((own) => [...own].map((octet) => octet.toString(16).padStart(2, "0")).join(":") as HardwareAddress);
const nics = fc.array(nic, { maxLength: 5 });
const address: fc.Arbitrary<IpAddress> = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }).map(ipv4FromNumber),
  fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((value) => addressFromValue(6, value)),
);
const time = fc.oneof(fc.nat(), fc.constantFrom(1_796_040_000_123, -1, 0.5, Number.MAX_SAFE_INTEGER));
const DOMAINS = ["rack.example", "b.rack.example", "x"];

const machine: fc.Arbitrary<Machine> = fc.record({
  id,
  name: fc.option(fc.oneof(fc.string(), fc.string({ unit: "binary", minLength: 100, maxLength: 400 }))),
  state: fc.constantFrom("enlisted", "enrolled", "released"),
  nics,
  createdAt: time,
});

const allocation: fc.Arbitrary<Allocation> = fc
  .record({
    id,
    kind: fc.constantFrom("machine" as const, "additional" as const, "vip" as const),
    subnetId: fc.oneof(fc.nat(), fc.integer({ min: 1, max: 3 })),
    address,
    machineId: fc.option(id),
    nics,
    owned: fc.constantFrom("machine", "vip", "other"),
    key: fc.string(),
    domain: fc.constantFrom(...DOMAINS, "elsewhere.example"),
    label: fc.option(fc.string()),
    owners: fc.array(id, { maxLength: 4 }),
    delivery: fc.constantFrom("dhcp" as const, "config" as const, "both" as const),
    createdAt: time,
  })
  .map(({ owned, key, domain, label, ...rest }) => {
    const keys: Record<string, string> = { machine: `machine/${rest.machineId}/subnet/${rest.subnetId}`, vip: `vip/${rest.id}` };
    const name = `${label ?? premadeLabel(rest.address)}.${domain}`;
    const { createdAt, delivery, owners, ...first } = rest;
    return { ...first, ownerKey: keys[owned] ?? key, name, owners, delivery, createdAt };
  });

function through<T>(codec: RowCodec<T>, record: T): { read: T; rest: number } {
  const writer = new OctetWriter();
  writer.restart();
  codec.write(record, writer);
  const octets = Uint8Array.from([255, ...writer.written, 254]);
  const reader = new OctetReader().start(octets, 1);
  const read = codec.read(reader);
  return { read, rest: octets.length - 2 - reader.seen.length };
}

test("a record that was written is read as it was, member by member in the same order, and to its last octet", () => {
  const codec = new AllocationCodec(new Interned(), (subnetId) => DOMAINS[subnetId % 4] ?? null);
  fc.assert(
    fc.property(machine, allocation, (first, second) => {
      for (const [record, { read, rest }] of [
        [first, through(machineCodec, first)] as const,
        [second, through(codec, second)] as const,
      ]) {
        expect(read).toEqual(record);
        expect(JSON.stringify(read)).toBe(JSON.stringify(record));
        expect(rest).toBe(0);
      }
    }),
    { numRuns: 600 },
  );
});

test("an ordinary allocation takes no more than sixty octets, an ordinary machine no more than thirty", () => {
  const codec = new AllocationCodec(new Interned(), () => "rack.example");
  const own = "02:00:00:00:00:01" as HardwareAddress;
  const [mine, its] = ["m-1m8q1v65pcvz11jn", "a-1m8q1v65pvxp9bqq"];
  const text = "10.1.2.3" as IpAddress;
  const plain: Allocation = {
    id: its,
    kind: "machine",
    subnetId: 1,
    address: text,
    machineId: mine,
    nics: [own],
    ownerKey: `machine/${mine}/subnet/1`,
    name: "ip-10-1-2-3.rack.example",
    owners: [],
    delivery: "both",
    createdAt: 1_796_040_000_000,
  };
  const writer = new OctetWriter();
  codec.write(plain, writer);
  expect(writer.written.length).toBeLessThanOrEqual(60);
  writer.restart();
  machineCodec.write({ id: mine, name: null, state: "enrolled", nics: [own], createdAt: 1_796_040_000_000 }, writer);
  expect(writer.written.length).toBeLessThanOrEqual(30);
});

/** What a state is asked, by a plain map of what it should have. */
class Naive {
  readonly machines = new Map<string, Machine>();
  readonly allocations = new Map<string, Allocation>();

  holding(machineId: string): readonly Allocation[] {
    return [...this.allocations.values()].filter((each) => (each.machineId ?? each.owners).includes(machineId));
  }
}

const IDS = ["1", "2", "3", "4", "5", "6"];
const NICS = ["02:00:00:00:00:01", "02:00:00:00:00:02", "02:00:00:00:00:03"] as HardwareAddress[];
const ADDRESSES = [1, 2, 3, 4, 5, 6, 7].map((last) => `10.0.0.${last}` as IpAddress);
const some = fc.constantFrom(...IDS);
const steps = fc.array(
  fc.oneof(
    fc.record({
      table: fc.constant("machine" as const),
      record: fc.option(
        fc.record({
          id: some.map((number) => `m-${number}`),
          name: fc.option(fc.constantFrom("one", "two")),
          state: fc.constantFrom("enlisted" as const, "enrolled" as const, "released" as const),
          nics: fc.subarray(NICS),
          createdAt: fc.nat(9),
        }),
        { freq: 4 },
      ),
      id: some.map((number) => `m-${number}`),
    }),
    fc.record({
      table: fc.constant("allocation" as const),
      record: fc.option(
        fc.record({
          id: some.map((number) => `a-${number}`),
          kind: fc.constantFrom("machine" as const, "additional" as const, "vip" as const),
          subnetId: fc.constantFrom(1, 2),
          address: fc.constantFrom(...ADDRESSES),
          machineId: fc.option(some.map((number) => `m-${number}`)),
          nics: fc.subarray(NICS),
          ownerKey: some,
          name: fc
            .constantFrom("one", "two", "ip-10-0-0-1")
            .chain((label) => fc.constantFrom(...DOMAINS).map((domain) => `${label}.${domain}`)),
          owners: fc.subarray(IDS.map((number) => `m-${number}`)),
          delivery: fc.constantFrom("dhcp" as const, "config" as const, "both" as const),
          createdAt: fc.nat(9),
        }),
        { freq: 4 },
      ),
      id: some.map((number) => `a-${number}`),
    }),
  ),
  { maxLength: 120 },
);

const subnet = (id: number, site: string): Subnet => ({
  id,
  prefix: "10.0.0.0/29" as Subnet["prefix"],
  site,
  gateway: null,
  domain: DOMAINS[id] ?? "",
  mode: "static",
  window: null,
  enlistment: null,
  reserved: [],
  dns: null,
  ntp: null,
  leaseTime: 600,
  maxLeaseTime: 600,
  createdAt: 0,
});

function byId<T extends { readonly id: string }>(records: Iterable<T>): readonly T[] {
  return [...records].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function expectSame(state: LedgerState, naive: Naive): void {
  const [machines, allocations] = [[...naive.machines.values()], [...naive.allocations.values()]];
  expect(byId(state.machines.values())).toEqual(byId(machines));
  expect(byId(state.allocations.values())).toEqual(byId(allocations));
  expect([state.machines.size, state.allocations.size]).toEqual([machines.length, allocations.length]);
  expect(new Set(state.vips)).toEqual(new Set(allocations.filter(({ kind }) => kind === "vip").map((each) => each.id)));
  for (const number of IDS) {
    const [m, a] = [`m-${number}`, `a-${number}`];
    expect([state.machines.get(m), state.machines.has(m)]).toEqual([naive.machines.get(m), naive.machines.has(m)]);
    expect([state.allocations.get(a), state.allocations.has(a)]).toEqual([naive.allocations.get(a), naive.allocations.has(a)]);
    const made = naive.holding(m).toSorted((x, y) => x.createdAt - y.createdAt || (x.id < y.id ? -1 : 1));
    expect(state.allocationsOf(m)).toEqual(made);
    expect(byId(state.allocationByOwner.of(number))).toEqual(byId(allocations.filter(({ ownerKey }) => ownerKey === number)));
  }
  for (const nic of NICS)
    expect(byId(state.machineOfNic.of(nic))).toEqual(byId(machines.filter(({ nics }) => nics.includes(nic))));
  for (const called of ["one", "two"]) {
    expect(byId(state.machinesByName.of(called))).toEqual(byId(machines.filter(({ name }) => name === called)));
    const full = `${called}.${DOMAINS[1]}`;
    expect(byId(state.allocationByName.of(full))).toEqual(byId(allocations.filter(({ name }) => name === full)));
  }
  for (const id of [1, 2]) {
    const here = allocations.filter(({ subnetId }) => subnetId === id);
    const space = state.spaceOf(id);
    expect(byId(space.allocations.values())).toEqual(byId(here));
    expect([...space.allocations.addresses()].sort()).toEqual(here.map((each) => each.address).sort());
    for (const each of ADDRESSES) expect(space.allocations.get(each)).toEqual(here.find((held) => held.address === each));
  }
}

test("a packed state answers everything as plain maps of the same records do, over any history", () => {
  fc.assert(
    fc.property(steps, (list) => {
      const state = new LedgerState({ ...EMPTY_LEDGER, subnets: [subnet(1, "east"), subnet(2, "west")] });
      const naive = new Naive();
      for (const step of list) {
        const id = step.record?.id ?? step.id;
        if (step.table === "machine") {
          state.apply({ table: "machine", before: naive.machines.get(id) ?? null, after: step.record });
          naive.machines.delete(id);
          if (step.record !== null) naive.machines.set(id, step.record);
        } else {
          const { record } = step;
          // Who has an address and a key is unique, as decisions and the store see to.
          const clash = [...naive.allocations.values()].some(
            (other) => other.id !== id && other.address === record?.address && other.subnetId === record.subnetId,
          );
          if (clash) continue;
          state.apply({ table: "allocation", before: naive.allocations.get(id) ?? null, after: record });
          naive.allocations.delete(id);
          if (record !== null) naive.allocations.set(id, record);
        }
      }
      expectSame(state, naive);
      const other = new LedgerState(EMPTY_LEDGER);
      other.reset(new LedgerState(state.content()));
      for (const after of naive.allocations.values()) other.apply({ table: "allocation", before: after, after });
      expectSame(other, naive);
    }),
    { numRuns: 200 },
  );
});
