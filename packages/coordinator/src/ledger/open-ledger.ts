import {
  nextAddresses,
  type IpAddress,
  type ObservedHolder,
  type PlanFacts,
  type RackFinder,
  type RackView,
  type WireSightings,
} from "@berth/core";
import type { Clock, Log } from "@berth/host";
import type { Store } from "../store/store.js";
import { allocationCommands } from "./allocation-commands.js";
import { CommitQueue } from "./commit-queue.js";
import { CommittedView } from "./committed-view.js";
import type { Ledger, LedgerReads } from "./ledger.js";
import { machineCommands } from "./machine-commands.js";
import { nameCommands } from "./name-commands.js";
import { subnetCommands } from "./subnet-commands.js";

export interface LedgerPorts {
  readonly store: Pick<Store, "ledger">;
  /** What the racks see now: nobody is given an address that one of them saw in use. */
  readonly racks: () => readonly RackView[];
  /** Finds among them at a cost that does not grow with them. Left out, they are looked through. */
  readonly finder?: RackFinder;
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
  const { revision, state } = await ports.store.ledger.loadState();
  const view = new CommittedView(state, revision);
  const queue = new CommitQueue({ state, revision }, { ...ports, store: ports.store.ledger }, (next, changes) =>
    view.committed(next, changes),
  );
  view.inFlight = () => queue.inFlight;
  return {
    get revision() {
      return view.revision;
    },
    ...reads(view),
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

function reads(view: CommittedView): LedgerReads {
  return {
    subnets: view.subnets,
    machines: () => [...view.eachMachine()],
    allocations: () => [...view.eachAllocation()],
    quarantines: () => [...view.eachQuarantine()],
    reservations: view.reservations,
    records: view.records,
    eachAllocation: view.eachAllocation,
    machine: view.machine,
    machineWith: view.machineWith,
    machinesNamed: view.machinesNamed,
    allocation: view.allocation,
    allocationsOf: view.allocationsOf,
    allocationsIn: view.allocationsIn,
    allocationsAt: view.allocationsAt,
    allocationsNamed: view.allocationsNamed,
    vips: view.vips,
    quarantinesIn: view.quarantinesIn,
    quarantinesOf: view.quarantinesOf,
    usage: view.usage,
    allocationCount: view.allocationCount,
  };
}
