import {
  LedgerState,
  nextAddresses,
  type IpAddress,
  type LedgerChange,
  type ObservedHolder,
  type PlanFacts,
  type RackView,
  type WireSightings,
} from "@berth/core";
import type { Clock, Log } from "@berth/host";
import type { Store } from "../store/store.js";
import { allocationCommands } from "./allocation-commands.js";
import { CommitQueue } from "./commit-queue.js";
import { committedAllocationsOf, committedMachine } from "./committed-records.js";
import type { Ledger } from "./ledger.js";
import { machineCommands } from "./machine-commands.js";
import { nameCommands } from "./name-commands.js";
import { subnetCommands } from "./subnet-commands.js";

export interface LedgerPorts {
  readonly store: Pick<Store, "ledger">;
  /** What the racks see now: nobody is given an address that one of them saw in use. */
  readonly racks: () => readonly RackView[];
  readonly clock: Clock;
  readonly log: Log;
  /** From the planner. Left out, a release counts as taken over by all racks at once. */
  readonly plans?: PlanFacts;
  /** From the topology: addresses that no rack has now and that may turn up on one. */
  readonly kept?: (site: string, address: IpAddress) => ObservedHolder | null;
  /** Who was heard on the wires, and for how long that keeps an address from being given. Left out, nothing is known of them. */
  readonly wire?: WireSightings;
  readonly wireWindowMs?: number;
}

/** Loads the ledger from the store and answers for it from then on. Only one may be open on a store; where coordinators share a database each has a store of its own. */
export async function openLedger(ports: LedgerPorts): Promise<Ledger> {
  const { revision, content } = await ports.store.ledger.load();
  const state = new LedgerState(content);
  const view = new CommittedView(state, revision);
  const queue = new CommitQueue({ state, revision }, { ...ports, store: ports.store.ledger }, (next) => view.committed(next));
  view.inFlight = () => queue.inFlight;
  return {
    get revision() {
      return view.revision;
    },
    subnets: () => view.subnets(),
    machines: () => view.machines(),
    allocations: () => view.allocations(),
    quarantines: () => view.quarantines(),
    reservations: () => view.reservations(),
    records: () => view.records(),
    machine: (id) => committedMachine(state, id, queue.inFlight),
    allocationsOf: (machineId) => committedAllocationsOf(state, machineId, queue.inFlight),
    allocationIn: (subnetId, address) => state.spaces.get(subnetId)?.allocations.get(address) ?? null,
    nextAddresses(subnetId) {
      const space = state.spaces.get(subnetId);
      const now = ports.clock.now();
      return space === undefined ? [] : nextAddresses(space, queue.observed(now), now);
    },
    ...subnetCommands(state, queue),
    ...machineCommands(state, queue),
    ...allocationCommands(state, queue),
    ...nameCommands(state, queue),
    onChange: (listener) => view.onChange(listener),
    settled: () => queue.settled(),
    run: async (signal) => ports.store.ledger.shared?.watch((heard) => queue.lookForNews(heard), signal),
  };
}

/** What readers see: the state as last committed, its lists built when first asked after a commit. */
class CommittedView {
  revision: number;
  inFlight: () => readonly LedgerChange[] = () => [];
  private readonly state: LedgerState;
  private readonly listeners = new Set<() => void>();
  private readonly lists = new Map<LedgerChange["table"], readonly unknown[]>();

  constructor(state: LedgerState, revision: number) {
    this.state = state;
    this.revision = revision;
  }

  subnets = () => this.list("subnet", this.state.subnets, ({ id }) => id);
  machines = () => this.list("machine", this.state.machines, ({ id }) => id);
  allocations = () => this.list("allocation", this.state.allocations, ({ id }) => id);
  quarantines = () => this.list("quarantine", this.state.quarantines, ({ site, address }) => `${site} ${address}`);

  reservations = () => this.list("reservation", this.state.reservations, ({ id }) => id);
  records = () => this.list("record", this.state.records, ({ id }) => id);

  committed(revision: number): void {
    this.revision = revision;
    this.lists.clear();
    for (const listener of this.listeners) listener();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private list<Key, T>(table: LedgerChange["table"], records: ReadonlyMap<Key, T>, key: (record: T) => Key): readonly T[] {
    const known = this.lists.get(table) as readonly T[] | undefined;
    if (known !== undefined) return known;
    const undone = this.inFlight().filter((change) => change.table === table);
    const committed = undone.length === 0 ? records : withoutChanges(records, undone, key);
    const list = [...committed.values()];
    this.lists.set(table, list);
    return list;
  }
}

function withoutChanges<Key, T>(
  records: ReadonlyMap<Key, T>,
  changes: readonly LedgerChange[],
  key: (record: T) => Key,
): ReadonlyMap<Key, T> {
  const before = new Map(records);
  for (const change of [...changes].reverse()) {
    if (change.after !== null) before.delete(key(change.after as T));
    if (change.before !== null) before.set(key(change.before as T), change.before as T);
  }
  return before;
}
