import {
  emptyTopology,
  advanceTopology,
  mergeView,
  noteKnowledge,
  recallMoves,
  removeRack,
  type RegionKnowledge,
  type Topology,
  type TopologyEvent,
  type TopologyStep,
} from "@berth/core";
import type { Clock } from "@berth/host";
import type { RackRegistry } from "../racks/rack-registry.js";

type VipMoved = TopologyEvent & { readonly type: "vip-moved" };

export interface TopologyKeeperPorts {
  readonly racks: Pick<RackRegistry, "views" | "view" | "onChange">;
  readonly clock: Clock;
  readonly knowledge?: Partial<RegionKnowledge>;
  /** Moves of former runs, oldest first. */
  readonly moves?: readonly VipMoved[];
}

/** The region's topology over time: it sees addresses move, which no single look at the racks can. */
export interface TopologyKeeper {
  /** As of now. The same object while neither a rack nor the time changed. */
  topology(): Topology;
  /** Replaces what the region itself knows: configured addresses, the ledger's virtual ones. */
  know(knowledge: Partial<RegionKnowledge>): void;
  /** Called for each move and each finding about a report, after it is in the topology. Returns the way to stop. */
  onEvent(listener: (event: TopologyEvent) => void): () => void;
  /** Follows the racks no more. */
  close(): void;
}

/** Follows the registry from now on; what it holds already is taken in at once. */
export function createTopologyKeeper(ports: TopologyKeeperPorts): TopologyKeeper {
  return new FollowingKeeper(ports);
}

class FollowingKeeper implements TopologyKeeper {
  readonly #racks: TopologyKeeperPorts["racks"];
  readonly #listeners = new Set<(event: TopologyEvent) => void>();
  readonly #now: () => number;
  readonly #stop: () => void;
  #topology: Topology;

  constructor({ racks, clock, knowledge, moves }: TopologyKeeperPorts) {
    // Starts at the wall clock and goes on with the monotonic one: a step of the wall clock must not age a rack or a failover.
    const offset = clock.now() - clock.monotonic();
    this.#now = () => Math.round(offset + clock.monotonic());
    this.#racks = racks;
    this.#topology = recallMoves(emptyTopology(knowledge), moves ?? []);
    const oldestFirst = [...racks.views()].sort((a, b) => (a.interfacesAt ?? 0) - (b.interfacesAt ?? 0));
    for (const view of oldestFirst) this.#take(mergeView(this.#topology, view, this.#now()));
    this.#stop = racks.onChange((id) => this.#follow(id));
  }

  topology(): Topology {
    this.#topology = advanceTopology(this.#topology, this.#now());
    return this.#topology;
  }

  know(knowledge: Partial<RegionKnowledge>): void {
    this.#take(noteKnowledge(this.#topology, { ...this.#topology.knowledge, ...knowledge }, this.#now()));
  }

  onEvent(listener: (event: TopologyEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stop();
  }

  #follow(id: string): void {
    const view = this.#racks.view(id);
    if (view === null) this.#topology = removeRack(this.#topology, id, this.#now());
    else this.#take(mergeView(this.#topology, view, this.#now()));
  }

  #take({ topology, events }: TopologyStep): void {
    this.#topology = topology;
    for (const event of events) for (const listener of this.#listeners) listener(event);
  }
}
