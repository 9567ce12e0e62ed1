import {
  assert,
  emptyReportedFacts,
  leasesOfNic,
  RackIndex,
  RackLeases,
  mergeObservation,
  type HardwareAddress,
  type IndexedRack,
  type IpAddress,
  type Observation,
  type Problem,
  type ReportedFacts,
  type ReportedLease,
  type RackFinder,
  type RackView,
} from "@berth/core";
import type { Clock, Log } from "@berth/host";
import type { RackRecord, Store } from "../store/store.js";

/** A session of a rack as the registry knows it. `connection` tells apart the sessions of one rack, so that the end of an old one means nothing. */
export interface RackSession {
  readonly connection: number;
  /** Names the run of the agent that numbers the observations. */
  readonly stream: string;
  readonly generation: number;
  /** How far the rack's clock is ahead, milliseconds; null when its hello did not say. */
  readonly clockAheadMs: number | null;
}

/** Every rack of the region with its newest facts. Reads are from memory and never wait. */
export interface RackRegistry {
  /** In the order of their names. The objects are snapshots; their lease maps are live and read-only. */
  views(): readonly RackView[];
  view(id: string): RackView | null;
  /** Finds among the views by what they report. */
  readonly finder: RackFinder;
  /** All that racks report of a NIC, in the order of their names; costs the same however many racks there are. */
  leasesOf(nic: HardwareAddress): readonly ReportedLease[];
  /** The same of an address. */
  leasesAt(address: IpAddress): readonly ReportedLease[];
  record(id: string): RackRecord | null;
  records(): readonly RackRecord[];
  /** Adds a rack or changes its name or key; durable when it resolves. */
  admit(record: RackRecord): Promise<void>;
  /** Forgets the rack and all it reported: its certificate is worth nothing from now on. False when there is no such rack. */
  remove(id: string): Promise<boolean>;
  /** A session begins. Answers the last merged sequence of that stream, null when everything must come anew. */
  open(id: string, session: RackSession): number | null;
  /** Something arrived from the rack. */
  heard(id: string): void;
  observe(id: string, observation: Observation): readonly Problem[];
  /** The rack has this generation on its disk. */
  accept(id: string, generation: number): void;
  /** A session ended; only the newest one's end makes the rack disconnected. */
  close(id: string, connection: number): void;
  /** Takes what the store has: for a coordinator whose racks another one has, so that no session is open here. */
  reload(): Promise<void>;
  /** Called after every change of any rack, with its id. Returns the way to stop. */
  onChange(listener: (id: string) => void): () => void;
}

interface Entry {
  record: RackRecord;
  readonly facts: ReportedFacts;
  /** What it looks like, until something of it changes. */
  view: RackView | null;
  connection: number | null;
  lastSeenAt: number | null;
  /** The stream whose leases are merged up to `sequence`; null until a snapshot of it is complete. */
  stream: string;
  sequence: number | null;
}

export interface RackRegistryPorts {
  readonly store: Pick<Store, "racks" | "reports">;
  readonly clock: Clock;
  readonly log: Log;
}

/** Loads the racks and what they last reported. */
export async function createRackRegistry(ports: RackRegistryPorts): Promise<RackRegistry> {
  return new KnownRacks(ports, await loadEntries(ports.store));
}

class KnownRacks implements RackRegistry {
  readonly #ports: RackRegistryPorts;
  readonly #entries: Map<string, Entry>;
  readonly #index = new RackIndex(this);
  readonly #listeners = new Set<(id: string) => void>();
  /** In the order of their names, until a rack comes, goes or is renamed. */
  #ordered: readonly Entry[] | null = null;
  /** Every request asks for all racks, far more often than one of them changes. */
  #views: readonly RackView[] | null = null;

  constructor(ports: RackRegistryPorts, entries: Map<string, Entry>) {
    this.#ports = ports;
    this.#entries = entries;
    for (const [id, entry] of entries) this.#index.put(id, indexed(entry));
  }

  get finder(): RackFinder {
    return this.#index;
  }

  views(): readonly RackView[] {
    this.#ordered ??= [...this.#entries.values()].sort((a, b) => (a.record.name < b.record.name ? -1 : 1));
    this.#views ??= this.#ordered.map(viewOf);
    return this.#views;
  }

  view(id: string): RackView | null {
    const entry = this.#entries.get(id);
    return entry === undefined ? null : viewOf(entry);
  }

  leasesOf(nic: HardwareAddress): readonly ReportedLease[] {
    return this.#index.seeing([nic]).flatMap((rack) => leasesOfNic(rack.leases, nic).map((lease) => ({ rack, lease })));
  }

  leasesAt(address: IpAddress): readonly ReportedLease[] {
    return this.#index.holding(address).flatMap((rack) => {
      const lease = rack.leases.get(address);
      return lease === undefined ? [] : [{ rack, lease }];
    });
  }

  record(id: string): RackRecord | null {
    return this.#entries.get(id)?.record ?? null;
  }

  records(): readonly RackRecord[] {
    return [...this.#entries.values()].map((entry) => entry.record);
  }

  async admit(record: RackRecord): Promise<void> {
    await this.#ports.store.racks.save(record);
    const entry = this.#entries.get(record.id);
    if (entry === undefined) this.#entries.set(record.id, newEntry(record));
    else entry.record = record;
    this.#ordered = null;
    this.#changed(record.id);
  }

  async remove(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    this.#ordered = null;
    this.#entries.delete(id); // first, so that its session ends and no report of it is queued behind the removal
    this.#changed(id);
    try {
      await this.#ports.store.racks.remove(id);
    } catch (error) {
      this.#entries.set(id, entry);
      this.#ordered = null;
      this.#changed(id);
      throw error;
    }
    this.#ports.log.info({ rack: id }, "rack removed");
    return true;
  }

  open(id: string, { connection, stream, generation, clockAheadMs }: RackSession): number | null {
    const entry = this.#known(id);
    if (entry.stream !== stream) entry.sequence = null;
    entry.stream = stream;
    entry.connection = connection;
    entry.lastSeenAt = this.#ports.clock.now();
    entry.facts.staged = null;
    entry.facts.accepted = generation;
    entry.facts.clockAheadMs = clockAheadMs;
    this.#changed(id);
    return entry.sequence;
  }

  heard(id: string): void {
    this.#known(id).lastSeenAt = this.#ports.clock.now();
    this.#forgetView(id);
  }

  observe(id: string, observation: Observation): readonly Problem[] {
    const problems = observe(this.#ports.store, this.#known(id), { observation, now: this.#ports.clock.now() });
    this.#changed(id);
    return problems;
  }

  accept(id: string, generation: number): void {
    this.#known(id).facts.accepted = generation;
    this.#changed(id);
  }

  close(id: string, connection: number): void {
    const entry = this.#entries.get(id);
    if (entry?.connection !== connection) return;
    entry.connection = null;
    this.#changed(id);
  }

  async reload(): Promise<void> {
    const stored = await loadEntries(this.#ports.store);
    const ids = new Set([...this.#entries.keys(), ...stored.keys()]);
    for (const id of ids) {
      const [before, after] = [this.#entries.get(id), stored.get(id)];
      if (after === undefined) this.#entries.delete(id);
      else {
        // The same report stays the same object: whoever compares with what it took in before finds nothing new.
        if (before?.facts.interfacesAt === after.facts.interfacesAt && before !== undefined)
          after.facts.interfaces = before.facts.interfaces;
        if (before !== undefined) after.facts.leases = brought(before.facts.leases, after.facts.leases);
        this.#entries.set(id, after);
      }
      this.#ordered = null;
      this.#changed(id);
    }
  }

  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(id: string): void {
    this.#forgetView(id);
    const entry = this.#entries.get(id);
    if (entry === undefined) this.#index.remove(id);
    else this.#index.put(id, indexed(entry));
    for (const listener of this.#listeners) listener(id);
  }

  #forgetView(id: string): void {
    this.#views = null;
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.view = null;
  }

  #known(id: string): Entry {
    const entry = this.#entries.get(id);
    assert(entry !== undefined, `rack ${id} has a session but is not known`);
    return entry;
  }
}

async function loadEntries(store: RackRegistryPorts["store"]): Promise<Map<string, Entry>> {
  const [records, reports] = await Promise.all([store.racks.list(), store.reports.load()]);
  const entries = new Map<string, Entry>();
  for (const record of records) {
    const entry = newEntry(record);
    const report = reports.get(record.id);
    if (report !== undefined) {
      entry.facts.interfaces = report.interfaces;
      entry.facts.interfacesAt = report.interfacesAt;
      entry.facts.leases = RackLeases.from(report.leases);
    }
    entries.set(record.id, entry);
  }
  return entries;
}

/** Merges and hands what changed to the store, which writes it together with others. */
function observe(
  store: RackRegistryPorts["store"],
  entry: Entry,
  { observation, now }: { readonly observation: Observation; readonly now: number },
): readonly Problem[] {
  const { id } = entry.record;
  const { change, problems } = mergeObservation(entry.facts, observation, now);
  switch (change.kind) {
    case "interfaces":
      store.reports.saveInterfaces(id, entry.facts.interfaces, now);
      break;
    case "leases-replaced":
      store.reports.replaceLeases(id, [...entry.facts.leases.values()]);
      entry.sequence = observation.sequence;
      break;
    case "leases-changed":
      store.reports.changeLeases(id, change.upserts, change.gone);
      break;
    case "nothing":
    case "status":
      break;
  }
  // Between the pages of a snapshot nothing is resumable; before the first one neither.
  if (entry.sequence !== null && entry.facts.staged === null) entry.sequence = observation.sequence;
  return problems;
}

/** The table that is indexed, with what the other has: nearly all leases are the same every time, and the index is told only of those that came or left. */
function brought(table: RackLeases, newest: RackLeases): RackLeases {
  for (const address of table.keys()) if (!newest.has(address)) table.delete(address);
  for (const [address, lease] of newest) table.set(address, lease);
  return table;
}

function newEntry(record: RackRecord): Entry {
  return { record, facts: emptyReportedFacts(), view: null, connection: null, lastSeenAt: null, stream: "", sequence: null };
}

function indexed({ record, facts }: Entry): IndexedRack {
  return { name: record.name, interfaces: facts.interfaces, leases: facts.leases };
}

function viewOf(entry: Entry): RackView {
  return (entry.view ??= newView(entry));
}

function newView({ record, facts, connection, lastSeenAt }: Entry): RackView {
  const { id, name, site, joinedAt } = record;
  const { staged: _, ...reported } = facts;
  return { id, name, site, joinedAt, connected: connection !== null, lastSeenAt, ...reported };
}
