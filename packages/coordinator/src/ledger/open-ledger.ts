import {
  changeSubnet,
  declareSubnet,
  enrollMachine,
  LedgerState,
  releaseMachine,
  removeSubnet,
  type IpAddress,
  type LedgerChange,
  type ObservedHolder,
  type RackView,
  type PlanFacts,
} from "@berth/core";
import type { Clock, Log } from "@berth/host";
import { randomBytes } from "node:crypto";
import type { Store } from "../store/store.js";
import { CommitQueue } from "./commit-queue.js";
import type { Ledger } from "./ledger.js";

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
}

/** Crockford's base 32: no letters that read like digits. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const ID_LENGTH = 12;
const ACTOR = "coordinator";

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
    createSubnet: (request, actor = ACTOR) =>
      queue.submit({
        actor,
        action: "create-subnet",
        decide: ({ now }) => declareSubnet(state, request, now),
        subject: ({ id, prefix }) => `subnet ${id} ${prefix}`,
      }),
    changeSubnet: (id, change, actor = ACTOR) =>
      queue.submit({
        actor,
        action: "change-subnet",
        decide: ({ now }) => changeSubnet(state, { id, change }, now),
        subject: ({ prefix }) => `subnet ${id} ${prefix}`,
      }),
    removeSubnet: (id, actor = ACTOR) =>
      queue.submit({
        actor,
        action: "remove-subnet",
        decide: ({ now }) => removeSubnet(state, id, now),
        subject: ({ prefix }) => `subnet ${id} ${prefix}`,
      }),
    enroll: (request, actor = ACTOR) =>
      queue.submit({
        actor,
        action: "enroll-machine",
        decide: ({ observed, now }) => enrollMachine(state, request, { observed, now, ...newIds(state) }),
        subject: ({ machine, allocation }) => `${machine.id} ${allocation.name} ${allocation.address}`,
      }),
    release: (machine, actor = ACTOR) =>
      queue.submit({
        actor,
        action: "release-machine",
        decide: ({ now }) => releaseMachine(state, machine, now),
        subject: ({ id, name }) => (name === null ? id : `${id} ${name}`),
      }),
    onChange: (listener) => view.onChange(listener),
    settled: () => queue.settled(),
    run: async (signal) => ports.store.ledger.shared?.watch((heard) => queue.lookForNews(heard), signal),
  };
}

function newIds(state: LedgerState): { readonly machineId: string; readonly allocationId: string } {
  let machineId = newId("m");
  while (state.machines.has(machineId)) machineId = newId("m");
  let allocationId = newId("a");
  while (state.allocations.has(allocationId)) allocationId = newId("a");
  return { machineId, allocationId };
}

function newId(kind: string): string {
  return `${kind}-${Array.from(randomBytes(ID_LENGTH), (octet) => ALPHABET[octet & 31]).join("")}`;
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
