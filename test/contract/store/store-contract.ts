import {
  EMPTY_LEDGER,
  ipAddress,
  parseHardwareAddress,
  type AddressFacts,
  type Allocation,
  type DesiredState,
  type HardwareAddress,
  type LeaseReport,
  type Machine,
  type Quarantine,
  type StoredRack,
  type Subnet,
} from "@berth/core";
import type {
  AuditEntry,
  DesiredRecord,
  RackRecord,
  Store,
  TokenRecord,
  TopologyChange,
} from "../../../packages/coordinator/src/store/store.js";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { subnet } from "./stored-subnet.js";

export { subnet };

/** What a contract needs of an engine: a store, and the same store again after it was closed. */
export interface StoreUnderTest {
  open(): Promise<Store>;
  discard(): Promise<void>;
}

export function nic(text: string): HardwareAddress {
  const address = parseHardwareAddress(text);
  if (address === null) throw new Error(`not a NIC: ${text}`);
  return address;
}

export const machine: Machine = {
  id: "m-1",
  name: "db1",
  state: "enrolled",
  nics: [nic("02:00:00:00:00:01"), nic("02:00:00:00:00:02")],
  createdAt: 5,
};

export const allocation: Allocation = {
  id: "a-1",
  kind: "machine",
  subnetId: 1,
  address: ipAddress("192.168.50.60"),
  machineId: "m-1",
  nics: machine.nics,
  ownerKey: "machine/m-1/subnet/1",
  name: "db1.rack.example",
  owners: [],
  delivery: "both",
  createdAt: 6,
};

const quarantine: Quarantine = {
  subnetId: 1,
  site: "default",
  address: ipAddress("192.168.50.61"),
  releasedAt: 7,
  until: 8,
  nics: machine.nics,
};
const other: Machine = { ...machine, id: "m-2", name: null, nics: [nic("02:00:00:00:00:03")] };
const entry: AuditEntry = { at: 9, actor: "admin", action: "enroll-machine", subject: "m-1", detail: { before: null, after: 1 } };
const rack: RackRecord = {
  id: "r-1",
  name: "rack1",
  site: "default",
  joinedAt: 3,
  certificateSerial: "0a1b",
  publicKeyHash: "ff",
};
const token: TokenRecord = {
  id: "t-1",
  secretHash: "aa",
  expiresAt: 99,
  rackName: null,
  site: "default",
  replaces: true,
  ...{ usedBy: null, usedAt: null },
};
const lease: LeaseReport = {
  address: ipAddress("192.168.50.200"),
  state: "active",
  inUse: true,
  allocatable: false,
  hardwareAddress: nic("02:00:00:00:00:09"),
  dnsLabel: null,
  starts: 1,
  ends: "never",
};

const vip: AddressFacts = {
  site: "default",
  address: ipAddress("192.168.50.9"),
  holders: ["r-1"],
  departed: null,
  owner: null,
  proof: null,
  moves: [{ from: "r-2", to: "r-1", at: 4, proves: true }],
};

function part(rackId: string, reportedAt: number): StoredRack {
  return { rack: rackId, reportedAt, gapFrom: null, backAt: null, settled: [], held: [], problems: [], left: [vip.address] };
}

const NO_CHANGE: TopologyChange = { racks: [], goneRacks: [], addresses: [], goneAddresses: [], moves: [], seenAt: 0 };

/** Every engine and the fake keep these promises. */
export function storeContract(name: string, underTest: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the promises of a store`, () => {
    let engine: StoreUnderTest;
    let store: Store;
    const reopen = async (): Promise<void> => {
      await store.close();
      store = await engine.open();
    };
    const fill = (): Promise<number> =>
      store.ledger.commit(
        [
          { table: "next-subnet", before: 1, after: 2 },
          { table: "subnet", before: null, after: subnet },
          { table: "machine", before: null, after: machine },
          { table: "machine", before: null, after: other },
          { table: "allocation", before: null, after: allocation },
          { table: "quarantine", before: null, after: quarantine },
        ],
        [entry],
      );

    beforeEach(async () => {
      engine = await underTest();
      store = await engine.open();
    });
    afterEach(async () => {
      await store.close();
      await engine.discard();
    });

    test("is empty at first", async () => {
      expect(await store.ledger.load()).toEqual({ revision: 0, content: EMPTY_LEDGER });
      expect(await store.racks.list()).toEqual([]);
      expect(await store.plans.load()).toEqual({ desired: [], serials: [] });
    });

    test("gives back what was committed, over a close", async () => {
      expect(await fill()).toBe(1);
      await reopen();
      const content = {
        subnets: [subnet],
        machines: [machine, other],
        allocations: [allocation],
        quarantines: [quarantine],
        nextSubnetId: 2,
      };
      expect(await store.ledger.load()).toMatchObject({ revision: 1, content });
      expect(await store.audit.list(0, 10)).toEqual([{ ...entry, number: 1 }]);
      expect(await store.audit.list(1, 10)).toEqual([]);
    });

    test("keeps a topology by its parts: changed ones are replaced, gone ones go, moves are added", async () => {
      expect(await store.topology.load()).toEqual({ racks: [], addresses: [], seenAt: null });
      await store.topology.save({
        ...NO_CHANGE,
        racks: [part("r-1", 1), part("r-2", 1)],
        addresses: [vip, { ...vip, site: "west" }],
        seenAt: 5,
      });
      await store.topology.save({
        ...NO_CHANGE,
        racks: [part("r-1", 2)],
        goneRacks: ["r-2", "r-9"],
        addresses: [{ ...vip, holders: ["r-2"] }],
        goneAddresses: [{ site: "west", address: vip.address }],
        seenAt: 6,
      });
      await reopen();
      expect(await store.topology.load()).toEqual({
        racks: [part("r-1", 2)],
        addresses: [{ ...vip, holders: ["r-2"] }],
        seenAt: 6,
      });
    });

    test("tells moves newest first, of one address or of all, page by page", async () => {
      const move = (at: number, text = "192.168.50.9") => ({
        site: "default",
        address: ipAddress(text),
        from: "r1",
        to: "r2",
        at,
      });
      await store.topology.save({ ...NO_CHANGE, moves: [move(1), move(2, "2001:db8::9")], seenAt: 1 });
      await store.topology.save({ ...NO_CHANGE, moves: [move(3)], seenAt: 2 });
      await reopen();
      const first = await store.topology.moves({ address: null, after: null, limit: 2 });
      expect(first).toEqual([
        { ...move(3), number: 3 },
        { ...move(2, "2001:db8::9"), number: 2 },
      ]);
      expect(await store.topology.moves({ address: null, after: 2, limit: 2 })).toEqual([{ ...move(1), number: 1 }]);
      const ofOne = await store.topology.moves({ address: ipAddress("2001:db8::9"), after: null, limit: 9 });
      expect(ofOne.map(({ at }) => at)).toEqual([2]);
    });

    test("changes and removes records", async () => {
      await fill();
      const renamed: Subnet = { ...subnet, domain: "new.example", window: null, mode: "static" };
      const fewer: Machine = { ...machine, state: "released", nics: [nic("02:00:00:00:00:02")] };
      const moved: Machine = { ...other, nics: [nic("02:00:00:00:00:01"), ...other.nics] };
      const named: Allocation = { ...allocation, name: "db1.new.example" };
      await store.ledger.commit(
        [
          { table: "subnet", before: subnet, after: renamed },
          { table: "machine", before: machine, after: fewer },
          { table: "machine", before: other, after: moved },
          { table: "allocation", before: allocation, after: named },
          { table: "quarantine", before: quarantine, after: { ...quarantine, until: 80 } },
        ],
        [],
      );
      await reopen();
      const { revision, state } = await store.ledger.loadState();
      expect({ revision, content: state.content() }).toEqual(await store.ledger.load());
      expect((await store.ledger.load()).content).toMatchObject({
        subnets: [renamed],
        machines: [fewer, moved],
        allocations: [named],
        quarantines: [{ ...quarantine, until: 80 }],
        nextSubnetId: 2,
      });
      await store.ledger.commit(
        [
          { table: "allocation", before: named, after: null },
          { table: "quarantine", before: { ...quarantine, until: 80 }, after: null },
          { table: "machine", before: fewer, after: null },
          { table: "subnet", before: renamed, after: null },
        ],
        [],
      );
      await reopen();
      expect(await store.ledger.load()).toEqual({
        revision: 3,
        content: { ...EMPTY_LEDGER, machines: [moved], nextSubnetId: 2 },
      });
    });

    const second: Allocation = {
      ...allocation,
      id: "a-2",
      machineId: "m-2",
      nics: other.nics,
      ownerKey: "k2",
      name: "n2.rack.example",
      address: ipAddress("192.168.50.62"),
    };
    test.each<[string, Partial<Allocation>]>([
      ["an address twice in a site", { address: allocation.address }],
      ["an owner key twice", { ownerKey: allocation.ownerKey }],
      ["a name twice in a zone", { name: allocation.name }],
      ["an address outside its subnet", { address: ipAddress("192.168.51.1") }],
      ["a machine that is not there", { machineId: "m-9" }],
    ])("refuses %s, and all that came with it", async (_, fault) => {
      await fill();
      const before = await store.ledger.load();
      const third: Allocation = {
        ...second,
        id: "a-3",
        ownerKey: "k3",
        name: "n3.rack.example",
        address: ipAddress("192.168.50.63"),
      };
      const attempt = store.ledger.commit(
        [
          { table: "allocation", before: null, after: third },
          { table: "allocation", before: null, after: { ...second, ...fault } },
        ],
        [entry],
      );
      await expect(attempt).rejects.toMatchObject({ name: "EnvironmentError", code: "store-conflict" });
      expect(await store.ledger.load()).toEqual(before);
      expect(await store.audit.list(0, 10)).toHaveLength(1);
      await store.ledger.commit([{ table: "allocation", before: null, after: second }], []);
    });

    test("refuses one NIC on two machines", async () => {
      await fill();
      const thief: Machine = { ...other, id: "m-3", nics: [nic("02:00:00:00:00:01")] };
      const attempt = store.ledger.commit([{ table: "machine", before: null, after: thief }], []);
      await expect(attempt).rejects.toMatchObject({ code: "store-conflict" });
    });

    test("keeps racks by id and refuses one name twice", async () => {
      await store.racks.save(rack);
      await store.racks.save({ ...rack, certificateSerial: null, site: "west" });
      await expect(store.racks.save({ ...rack, id: "r-2" })).rejects.toMatchObject({ code: "store-conflict" });
      await reopen();
      expect(await store.racks.list()).toEqual([{ ...rack, certificateSerial: null, site: "west" }]);
    });

    const state: DesiredState = { format: 1, rack: "r-1", generation: 7, subnets: [], zones: [], queryFrom: [], forwarders: [] };

    test("removes a rack with its reports and its desired state", async () => {
      await store.racks.save(rack);
      store.reports.saveInterfaces("r-1", [], 4);
      await store.reports.flush();
      store.reports.replaceLeases("r-1", [lease]);
      await store.plans.save([{ state, digest: "d", whole: state, change: null }], []);
      await store.racks.remove("r-1");
      await store.racks.remove("r-1");
      await reopen();
      expect([await store.racks.list(), (await store.plans.load()).desired, await store.reports.load()]).toEqual([
        [],
        [],
        new Map(),
      ]);
    });

    test("lets one key use a token, as often as it asks", async () => {
      await store.tokens.save(token);
      expect(await store.tokens.use("t-1", "key-a", 10)).toEqual({ ...token, usedBy: "key-a", usedAt: 10 });
      expect(await store.tokens.use("t-1", "key-b", 11)).toMatchObject({ usedBy: "key-a", usedAt: 10 });
      await reopen();
      expect(await store.tokens.use("t-1", "key-a", 12)).toMatchObject({ usedBy: "key-a", usedAt: 10 });
      expect(await store.tokens.use("t-9", "key-a", 12)).toBeNull();
      expect(await store.tokens.list()).toHaveLength(1);
      await store.tokens.remove("t-1");
      expect(await store.tokens.list()).toEqual([]);
    });

    test("keeps settings, desired states and serials", async () => {
      await store.settings.set("region", "a");
      await store.settings.set("region", "b");
      const record = (whole: DesiredState): DesiredRecord => ({
        state: whole,
        digest: `d${whole.generation}`,
        whole,
        change: null,
      });
      const serial = { site: "default", origin: "a.example", serial: 4294967295, digest: "y" };
      await store.plans.save([record({ ...state, generation: 6 })], [{ ...serial, serial: 1, digest: "x" }]);
      await store.plans.save([record(state)], [serial]);
      await reopen();
      expect([await store.settings.get("region"), await store.settings.get("none")]).toEqual(["b", null]);
      expect([await store.settings.claim("first", "a"), await store.settings.claim("first", "c")]).toEqual(["a", "a"]);
      expect(await store.plans.load()).toEqual({ desired: [record(state)], serials: [serial] });
    });

    test("keeps reports: leases one by one or replaced as a whole", async () => {
      const free: LeaseReport = {
        ...lease,
        address: ipAddress("192.168.50.201"),
        state: "free",
        inUse: false,
        allocatable: true,
        hardwareAddress: null,
        ends: 5,
      };
      store.reports.replaceLeases("r-1", [lease, free]);
      store.reports.changeLeases("r-1", [{ ...free, ends: 6 }], [lease.address]);
      await reopen();
      expect(await store.reports.load()).toEqual(
        new Map([["r-1", { interfaces: [], interfacesAt: null, leases: [{ ...free, ends: 6 }] }]]),
      );
      store.reports.saveInterfaces("r-1", [], 44);
      store.reports.replaceLeases("r-1", [lease]);
      await store.reports.flush();
      expect(await store.reports.load()).toEqual(new Map([["r-1", { interfaces: [], interfacesAt: 44, leases: [lease] }]]));
    });

    test("says that it is closed", async () => {
      await store.close();
      await expect(store.ledger.load()).rejects.toMatchObject({ code: "store-closed" });
      await expect(fill()).rejects.toMatchObject({ code: "store-closed" });
      await expect(store.racks.list()).rejects.toMatchObject({ code: "store-closed" });
      store = await engine.open();
    });
  });
}
