import {
  quarantineKey,
  type Allocation,
  type HardwareAddress,
  type IpAddress,
  type LedgerChange,
  type LedgerState,
  type Machine,
  type NameRecord,
  type Quarantine,
  type Reservation,
  type Subnet,
} from "@berth/core";

/** What was committed, for whoever keeps something made of the ledger; null where all of it may have changed. */
export type CommittedChanges = readonly LedgerChange[] | null;

/** Tables that are short enough to keep a list of. */
type ShortTable = "subnet" | "reservation" | "record";

/**
 * What readers see: the state as last committed. What is decided and not yet committed is taken back record by record where it is asked for, and
 * only the lists of short tables are kept, until one of their records changes: no commit and no look at one record costs more in a larger ledger.
 */
export class CommittedView {
  revision: number;
  inFlight: () => readonly LedgerChange[] = () => [];
  private readonly state: LedgerState;
  private readonly listeners = new Set<(changes: CommittedChanges) => void>();
  private readonly lists = new Map<ShortTable, readonly unknown[]>();
  private undone: Undone = { changes: [], before: new Map() };

  constructor(state: LedgerState, revision: number) {
    this.state = state;
    this.revision = revision;
  }

  subnets = (): readonly Subnet[] => this.short("subnet", this.state.subnets);
  reservations = (): readonly Reservation[] => this.short("reservation", this.state.reservations);
  records = (): readonly NameRecord[] => this.short("record", this.state.records);

  /** A look at all of them may go on over many turns: each record is the newest committed one when it is reached. */
  eachMachine = (): Iterable<Machine> => this.each<Machine>("machine", this.state.machines.values());
  eachAllocation = (): Iterable<Allocation> => this.each<Allocation>("allocation", this.state.allocations.values());
  eachQuarantine = (): Iterable<Quarantine> => this.each<Quarantine>("quarantine", this.state.quarantines.values());

  machine = (id: string): Machine | null => this.one<Machine>("machine", id, this.state.machines.get(id));
  allocation = (id: string): Allocation | null => this.one<Allocation>("allocation", id, this.state.allocations.get(id));

  allocationsOf = (machineId: string): readonly Allocation[] =>
    this.some(
      "allocation",
      this.state.allocationsOf(machineId),
      (each) => each.machineId === machineId || each.owners.includes(machineId),
    );

  allocationsIn = (subnetId: number): readonly Allocation[] =>
    this.some("allocation", this.state.spaces.get(subnetId)?.allocations.values() ?? [], (each) => each.subnetId === subnetId);

  allocationsAt = (address: IpAddress): readonly Allocation[] => {
    const held = [...this.state.spaces.values()].flatMap(({ allocations }) => allocations.get(address) ?? []);
    return this.some("allocation", held, (each) => each.address === address);
  };

  allocationsNamed = (name: string): readonly Allocation[] => {
    const held = this.state.allocationByName.of(name);
    return this.some("allocation", held, (each) => each.name === name);
  };

  vips = (): readonly Allocation[] => {
    const held = [...this.state.vips].flatMap((id) => this.state.allocations.get(id) ?? []);
    return this.some("allocation", held, ({ kind }) => kind === "vip");
  };

  quarantinesIn = (subnetId: number): readonly Quarantine[] =>
    this.some("quarantine", this.state.spaces.get(subnetId)?.rest.values() ?? [], (each) => each.subnetId === subnetId);

  quarantinesOf = (nic: HardwareAddress): readonly Quarantine[] => {
    const held = this.state.restingOfNic.of(nic).flatMap((key) => this.state.quarantines.get(key) ?? []);
    return this.some("quarantine", held, ({ nics }) => nics.includes(nic));
  };

  machineWith = (nic: HardwareAddress): Machine | null => {
    const held = this.state.machineOfNic.of(nic);
    return this.some<Machine>("machine", held, ({ nics }) => nics.includes(nic))[0] ?? null;
  };

  machinesNamed = (wanted: string): readonly Machine[] =>
    this.some<Machine>("machine", this.state.machinesByName.of(wanted), ({ name }) => name === wanted);

  /** How many addresses of a subnet are given, and how many were and are not. */
  usage = (subnetId: number): { readonly allocations: number; readonly quarantines: number } => {
    const space = this.state.spaces.get(subnetId);
    const isHere = (record: { readonly subnetId: number }): boolean => record.subnetId === subnetId;
    return {
      allocations: this.count<Allocation>("allocation", space?.allocations.size ?? 0, isHere),
      quarantines: this.count<Quarantine>("quarantine", space?.rest.size ?? 0, isHere),
    };
  };

  allocationCount = (): number => this.count("allocation", this.state.allocations.size, () => true);

  committed(revision: number, changes: CommittedChanges): void {
    this.revision = revision;
    if (changes === null) this.lists.clear();
    else for (const { table } of changes) this.lists.delete(table as ShortTable);
    for (const listener of this.listeners) listener(changes);
  }

  onChange(listener: (changes: CommittedChanges) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private short<T>(table: ShortTable, records: ReadonlyMap<unknown, T>): readonly T[] {
    const known = this.lists.get(table) as readonly T[] | undefined;
    if (known !== undefined) return known;
    const list = [...this.each<T>(table, records.values())];
    this.lists.set(table, list);
    return list;
  }

  private *each<T>(table: LedgerChange["table"], records: Iterable<T>): Iterable<T> {
    for (const record of records) {
      const undone = this.undoneIn(table);
      if (undone?.has(keyOf(record)) !== true) yield record;
    }
    for (const before of this.undoneIn(table)?.values() ?? []) if (before !== null) yield before as T;
  }

  private one<T>(table: LedgerChange["table"], key: string, record: T | undefined): T | null {
    const before = this.undoneIn(table)?.get(key);
    return before === undefined ? (record ?? null) : (before as T | null);
  }

  private some<T>(table: LedgerChange["table"], records: Iterable<T>, belongs: (record: T) => boolean): readonly T[] {
    const undone = this.undoneIn(table);
    if (undone === undefined) return [...records];
    const kept = [...records].filter((record) => !undone.has(keyOf(record)));
    const back = [...undone.values()].filter((before) => before !== null && belongs(before as T)) as T[];
    return [...kept, ...back];
  }

  private count<T>(table: LedgerChange["table"], now: number, belongs: (record: T) => boolean): number {
    let count = now;
    for (const change of this.inFlight()) {
      if (change.table !== table) continue;
      if (change.after !== null && belongs(change.after as T)) count -= 1;
      if (change.before !== null && belongs(change.before as T)) count += 1;
    }
    return count;
  }

  /** Of one table, what was committed in place of what is decided since; null where there was nothing. Undefined where nothing is decided. */
  private undoneIn(table: LedgerChange["table"]): ReadonlyMap<unknown, unknown> | undefined {
    const changes = this.inFlight();
    if (this.undone.changes !== changes) this.undone = { changes, before: undo(changes) };
    return this.undone.before.get(table);
  }
}

interface Undone {
  readonly changes: readonly LedgerChange[];
  readonly before: ReadonlyMap<LedgerChange["table"], ReadonlyMap<unknown, unknown>>;
}

function undo(changes: readonly LedgerChange[]): Undone["before"] {
  const tables = new Map<LedgerChange["table"], Map<unknown, unknown>>();
  for (const { table, before, after } of changes) {
    const known = tables.get(table) ?? new Map<unknown, unknown>();
    tables.set(table, known);
    const key = keyOf(before ?? after);
    if (!known.has(key)) known.set(key, before);
  }
  return tables;
}

function keyOf(record: unknown): unknown {
  const { id, site, address } = record as { id?: unknown } & Parameters<typeof quarantineKey>[0];
  return id ?? quarantineKey({ site, address });
}
