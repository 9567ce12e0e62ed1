import {
  answerKey,
  compareAddresses,
  EMPTY_LEDGER,
  LedgerState,
  prefixContains,
  prefixNetwork,
  type AddressFacts,
  type LedgerChange,
  type LedgerContent,
  type Problem,
  type StoredRack,
  type WireRecord,
} from "@berth/core";
import { EnvironmentError } from "@berth/host";
import { wantedAfter, type WireStore } from "./wire-store.js";
import { UNWRITABLE } from "./store-error.js";
import type { ApiTokenRecord, ApiTokenStore } from "./api-token-store.js";
import type {
  AuditEntry,
  DesiredRecord,
  LedgerStore,
  RackRecord,
  RackReport,
  RackStore,
  ReportStore,
  SerialRecord,
  Store,
  TokenRecord,
  TokenStore,
  TopologyStore,
  VipMoveRecord,
} from "./store.js";

/** What a fake store keeps over a close, like a data folder. */
export class MemoryDisk {
  ledger: LedgerContent = EMPTY_LEDGER;
  revision = 0;
  readonly racks = new Map<string, RackRecord>();
  readonly tokens = new Map<string, TokenRecord>();
  readonly apiTokens = new Map<string, ApiTokenRecord>();
  readonly settings = new Map<string, string>();
  readonly desired = new Map<string, DesiredRecord>();
  readonly serials = new Map<string, SerialRecord>();
  readonly reports = new Map<string, RackReport>();
  readonly topologyRacks = new Map<string, StoredRack>();
  readonly topologyAddresses = new Map<string, AddressFacts>();
  readonly moves: VipMoveRecord[] = [];
  topologySeenAt: number | null = null;
  readonly wire = new Map<string, WireRecord & { readonly saved: number }>();
  wireSaves = 0;
  readonly audit: AuditEntry[] = [];
  /** While set, every change fails with it, as on a full disk. */
  failure: Error | null = null;
}

/** The fake of the store port, for unit tests: keeps the same promises as the real one, checks the same constraints, forgets with its disk. */
export function createMemoryStore(disk: MemoryDisk = new MemoryDisk()): Store {
  const guard = new Guard(disk);
  return {
    ledger: memoryLedger(disk, guard),
    racks: memoryRacks(disk, guard),
    tokens: memoryTokens(disk, guard),
    apiTokens: memoryApiTokens(disk, guard),
    settings: {
      get: (name) => guard.read(() => disk.settings.get(name) ?? null),
      set: (name, value) => guard.write(() => void disk.settings.set(name, value)),
      claim: (name, value) =>
        guard.write(() => {
          const there = disk.settings.get(name) ?? value;
          disk.settings.set(name, there);
          return there;
        }),
    },
    plans: {
      load: () => guard.read(() => ({ desired: copy([...disk.desired.values()]), serials: copy([...disk.serials.values()]) })),
      save: (desired, serials) =>
        guard.write(() => {
          for (const record of copy(desired)) disk.desired.set(record.state.rack, fitting(record, disk.desired));
          for (const record of copy(serials)) disk.serials.set(`${record.site} ${record.origin}`, record);
        }),
    },
    audit: {
      append: (entry) => guard.write(() => void disk.audit.push(copy(entry))),
      list: (after, limit) =>
        guard.read(() =>
          copy(disk.audit.slice(after, after + limit)).map((entry, index) => ({ ...entry, number: after + index + 1 })),
        ),
      newest: ({ before, actor, action, limit }) =>
        guard.read(() =>
          copy(disk.audit)
            .map((entry, index) => ({ ...entry, number: index + 1 }))
            .filter((entry) => before === null || entry.number < before)
            .filter((entry) => (actor === null || entry.actor === actor) && (action === null || entry.action === action))
            .reverse()
            .slice(0, limit),
        ),
    },
    reports: memoryReports(disk, guard),
    topology: memoryTopology(disk, guard),
    wire: memoryWire(disk, guard),
    problem: () => guard.unwritable,
    close: () => {
      guard.open = false;
      return Promise.resolve();
    },
  };
}

class Guard {
  open = true;
  unwritable: Problem | null = null;
  private readonly disk: MemoryDisk;

  constructor(disk: MemoryDisk) {
    this.disk = disk;
  }

  read<T>(body: () => T): Promise<T> {
    return new Promise((resolve) => {
      this.check();
      resolve(body());
    });
  }

  write<T>(body: () => T): Promise<T> {
    return this.read(() => {
      const { failure } = this.disk;
      if (failure instanceof EnvironmentError && failure.code === UNWRITABLE)
        this.unwritable = { code: failure.code, at: failure.at, message: failure.message };
      if (failure !== null) throw failure;
      this.unwritable = null;
      return body();
    });
  }

  check(): void {
    if (!this.open) throw new EnvironmentError("store-closed", "memory", "the store is closed");
  }
}

function copy<T>(value: T): T {
  return structuredClone(value);
}

function memoryLedger(disk: MemoryDisk, guard: Guard): LedgerStore {
  return {
    load: () => guard.read(() => ({ revision: disk.revision, content: copy(disk.ledger) })),
    loadState: () => guard.read(() => ({ revision: disk.revision, state: new LedgerState(disk.ledger) })),
    commit: (changes, audit) =>
      guard.write(() => {
        let content = disk.ledger;
        for (const change of copy(changes)) content = changed(content, change);
        checkConstraints(content);
        disk.ledger = content;
        disk.audit.push(...copy(audit));
        disk.revision += 1;
        return disk.revision;
      }),
    shared: null,
  };
}

function changed(content: LedgerContent, change: LedgerChange): LedgerContent {
  switch (change.table) {
    case "subnet":
      return { ...content, subnets: replaced(content.subnets, change, ({ id }) => String(id)) };
    case "machine":
      return { ...content, machines: replaced(content.machines, change, ({ id }) => id) };
    case "allocation":
      return { ...content, allocations: replaced(content.allocations, change, ({ id }) => id) };
    case "quarantine":
      return { ...content, quarantines: replaced(content.quarantines, change, ({ site, address }) => `${site} ${address}`) };
    case "reservation":
      return { ...content, reservations: replaced(content.reservations, change, ({ id }) => id) };
    case "record":
      return { ...content, records: replaced(content.records, change, ({ id }) => id) };
    case "answer":
      return { ...content, answers: replaced(content.answers, change, answerKey) };
    case "next-subnet":
      return { ...content, nextSubnetId: change.after };
  }
}

function replaced<T>(
  records: readonly T[],
  { before, after }: { readonly before: T | null; readonly after: T | null },
  keyOf: (record: T) => string,
): readonly T[] {
  if (before === null) return after === null ? records : [...records, after];
  return records.flatMap((record) => (keyOf(record) !== keyOf(before) ? [record] : after === null ? [] : [after]));
}

function checkConstraints(content: LedgerContent): void {
  const subnets = new Map(content.subnets.map((subnet) => [subnet.id, subnet]));
  const machines = new Set(content.machines.map(({ id }) => id));
  unique(content.subnets.map(({ id }) => String(id)));
  unique(content.subnets.map(({ site, prefix }) => `${site} ${prefixNetwork(prefix)}`));
  unique(content.machines.map(({ id }) => id));
  unique(content.machines.flatMap(({ nics }) => nics));
  unique(content.quarantines.map(({ site, address }) => `${site} ${address}`));
  unique(content.allocations.map(({ id }) => id));
  unique(content.allocations.map(({ ownerKey }) => ownerKey));
  unique(content.allocations.map(({ subnetId, name }) => `${subnets.get(subnetId)?.domain ?? ""} ${name}`));
  unique(content.allocations.map(({ subnetId, address }) => `${subnets.get(subnetId)?.site ?? ""} ${address}`));
  unique(content.reservations.map(({ id }) => id));
  unique(content.reservations.map(({ subnetId, first }) => `${subnets.get(subnetId)?.site ?? ""} ${first}`));
  unique(content.records.map(({ id }) => id));
  unique(content.records.map(({ name, type, value }) => `${name} ${type} ${value}`));
  unique(content.records.filter(({ type }) => type === "CNAME").map(({ name }) => name));
  unique(content.answers.map(answerKey));
  for (const { id, subnetId, first, last } of content.reservations) {
    const prefix = subnets.get(subnetId)?.prefix;
    const inside = prefix !== undefined && prefixContains(prefix, first) && prefixContains(prefix, last);
    if (!inside || compareAddresses(first, last) > 0) conflict(`reservation ${id} is not in its subnet`);
  }
  for (const { subnetId, address, machineId } of content.allocations) {
    const subnet = subnets.get(subnetId);
    if (subnet === undefined || !prefixContains(subnet.prefix, address)) conflict(`${address} is not in its subnet`);
    if (machineId !== null && !machines.has(machineId)) conflict(`machine ${machineId} is unknown`);
  }
}

function unique(keys: readonly string[]): void {
  if (new Set(keys).size !== keys.length) conflict("a key is there twice");
}

function conflict(why: string): never {
  throw new EnvironmentError("store-conflict", "memory", `the database refused the change: ${why}`);
}

function memoryRacks(disk: MemoryDisk, guard: Guard): RackStore {
  return {
    list: () =>
      guard.read(() => copy([...disk.racks.values()].sort((a, b) => a.joinedAt - b.joinedAt || (a.id < b.id ? -1 : 1)))),
    save: (rack) =>
      guard.write(() => {
        for (const other of disk.racks.values())
          if (other.id !== rack.id && other.name === rack.name) conflict("a rack has that name");
        disk.racks.set(rack.id, copy(rack));
      }),
    remove: (id) =>
      guard.write(() => {
        disk.racks.delete(id);
        disk.reports.delete(id);
        disk.desired.delete(id);
      }),
  };
}

function memoryTokens(disk: MemoryDisk, guard: Guard): TokenStore {
  return {
    list: () =>
      guard.read(() => copy([...disk.tokens.values()].sort((a, b) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1)))),
    save: (token) => guard.write(() => void disk.tokens.set(token.id, copy(token))),
    use: (id, usedBy, at) =>
      guard.write(() => {
        const token = disk.tokens.get(id);
        if (token === undefined) return null;
        const used = token.usedBy === null ? { ...token, usedBy, usedAt: at } : token;
        disk.tokens.set(id, used);
        return copy(used);
      }),
    remove: (id) => guard.write(() => void disk.tokens.delete(id)),
  };
}

const NO_REPORT: RackReport = { interfaces: [], interfacesAt: null, leases: [] };

function memoryReports(disk: MemoryDisk, guard: Guard): ReportStore {
  const reportOf = (rackId: string): RackReport => disk.reports.get(rackId) ?? NO_REPORT;
  const setLeases = (rackId: string, leases: readonly RackReport["leases"][number][]): void => {
    const sorted = [...leases].sort((a, b) => (a.address < b.address ? -1 : 1));
    disk.reports.set(rackId, { ...reportOf(rackId), leases: copy(sorted) });
  };
  return {
    load: () => guard.read(() => copy(disk.reports)),
    saveInterfaces(rackId, interfaces, at) {
      if (!guard.open) return;
      disk.reports.set(rackId, { ...reportOf(rackId), interfaces: copy(interfaces), interfacesAt: at });
    },
    changeLeases(rackId, changes, gone) {
      if (!guard.open) return;
      const named = new Set([...gone, ...changes.map(({ address }) => address)]);
      setLeases(rackId, [...reportOf(rackId).leases.filter(({ address }) => !named.has(address)), ...changes]);
    },
    replaceLeases(rackId, leases) {
      if (!guard.open) return;
      setLeases(rackId, leases);
    },
    flush: () => guard.read(() => undefined),
  };
}

function memoryTopology(disk: MemoryDisk, guard: Guard): TopologyStore {
  return {
    load: () =>
      guard.read(() => ({
        racks: copy([...disk.topologyRacks.values()]),
        addresses: copy([...disk.topologyAddresses.values()]),
        seenAt: disk.topologySeenAt,
      })),
    save: (change) =>
      guard.write(() => {
        const { racks, goneRacks, addresses, goneAddresses, moves, seenAt } = copy(change);
        for (const rack of racks) disk.topologyRacks.set(rack.rack, rack);
        for (const id of goneRacks) disk.topologyRacks.delete(id);
        for (const facts of addresses) disk.topologyAddresses.set(`${facts.site} ${facts.address}`, facts);
        for (const { address, site } of goneAddresses) disk.topologyAddresses.delete(`${site} ${address}`);
        disk.moves.push(...moves);
        disk.topologySeenAt = seenAt;
      }),
    moves: ({ address, after, limit }) =>
      guard.read(() =>
        copy(disk.moves)
          .map((move, index) => ({ ...move, number: index + 1 }))
          .filter((move) => (address === null || move.address === address) && (after === null || move.number < after))
          .reverse()
          .slice(0, limit),
      ),
  };
}

function memoryWire(disk: MemoryDisk, guard: Guard): WireStore {
  return {
    load: (after = -1) =>
      guard.read(() => {
        const mark = disk.wireSaves;
        const from = wantedAfter(after, mark) ?? mark;
        const rows = [...disk.wire.values()].filter(({ saved }) => saved > from);
        return copy({ records: rows.map(({ saved: _, ...record }) => record), mark });
      }),
    save: (change) =>
      guard.write(() => {
        const saved = (disk.wireSaves += 1);
        for (const record of copy(change).records) disk.wire.set(`${record.site} ${record.address}`, { ...record, saved });
        for (const { site, address } of change.gone) disk.wire.delete(`${site} ${address}`);
      }),
  };
}

function memoryApiTokens(disk: MemoryDisk, guard: Guard): ApiTokenStore {
  return {
    list: () => guard.read(() => copy([...disk.apiTokens.values()].sort((a, b) => (a.name < b.name ? -1 : 1)))),
    add: (token) =>
      guard.write(() => {
        const taken = [...disk.apiTokens.values()].some(
          ({ digest, id, name }) => id === token.id || name === token.name || digest === token.digest,
        );
        if (taken) throw new EnvironmentError("store-conflict", "memory", `API token ${token.name} is there already`);
        disk.apiTokens.set(token.id, copy(token));
      }),
    remove: (id) => guard.write(() => void disk.apiTokens.delete(id)),
  };
}

/** A change that does not begin with the state that is there whole is no use. */
function fitting(record: DesiredRecord, saved: ReadonlyMap<string, DesiredRecord>): DesiredRecord {
  const there = saved.get(record.state.rack);
  const base = record.change?.base;
  const digest = there?.change?.base.digest ?? there?.digest;
  if (base === undefined || (base.generation === there?.whole.generation && base.digest === digest)) return record;
  return { ...record, whole: record.state, change: null };
}
