import {
  advanceTopology,
  keptHolder,
  mergeReport,
  nameOf,
  nextChange,
  noteConnection,
  noteKnowledge,
  noteServers,
  removeRack,
  reportOf,
  serversOf,
  type IpAddress,
  type LedgerChange,
  type ObservedHolder,
  type RackView,
  type RegionKnowledge,
  type Topology,
  type TopologyEvent,
  type TopologyStep,
} from "@berth/core";
import { describeError, EnvironmentError, type Clock, type Log } from "@berth/host";
import type { Ledger } from "../ledger/ledger.js";
import { Wakeup } from "../plan/wakeup.js";
import type { RackRegistry } from "../racks/rack-registry.js";
import type { Store, TopologyStore } from "../store/store.js";
import { openTopology } from "./open-topology.js";
import { UnsavedTopology } from "./unsaved-topology.js";

/**
 * Keeps the topology of the region: every rack's newest observation is merged as it arrives, time is let pass, and what must not be forgotten
 * is saved. Reads are from memory and never wait.
 */
export interface TopologyKeeper {
  /** As of now. */
  current(): Topology;
  /** Why nobody may be given this address because of what racks had or the configuration says; null when nothing is against it. */
  holder(site: string, address: IpAddress): ObservedHolder | null;
  /** Moves of virtual addresses, newest first; those that are not saved yet are saved before. */
  moves: TopologyStore["moves"];
  /** Called after the topology changed, by a report or because time passed. Returns the way to stop. */
  onChange(listener: () => void): () => void;
  /** Lets time pass and saves until aborted, and once more then. */
  run(signal: AbortSignal): Promise<void>;
}

export interface TopologyKeeperPorts {
  readonly registry: Pick<RackRegistry, "views" | "view" | "onChange">;
  readonly ledger: Pick<Ledger, "vips" | "onChange">;
  readonly store: Pick<Store, "topology">;
  readonly clock: Clock;
  readonly log: Log;
  /** From the region's configuration. */
  readonly addresses: { readonly real: readonly IpAddress[]; readonly vips: readonly IpAddress[] };
}

/** Changes are gathered for this long before they are saved. */
const PASS_INTERVAL_MS = 500;
/** How far behind the truth the saved time of the last look may be, and so the time of a move that nobody saw. */
const PERIOD_MS = 60_000;
const RETRY_MS = 1000;

/** Loads what a former run knew and follows registry and ledger from then on. */
export async function createTopologyKeeper(ports: TopologyKeeperPorts): Promise<TopologyKeeper> {
  const knowledge = knowledgeOf(ports);
  const { clock } = ports;
  // Starts at the wall clock and goes on with the monotonic one: a step of the wall clock must age neither a rack nor a failover.
  const offset = clock.now() - clock.monotonic();
  const now = (): number => Math.round(offset + clock.monotonic());
  const topology = await openTopology(ports.store.topology, ports.registry.views(), { knowledge, now: now() });
  return new MergedTopology(ports, topology, now);
}

/** What was last taken in of a rack, to tell what is news. */
type Taken = Pick<RackView, "interfaces" | "knowledge" | "name" | "site" | "daemons" | "ntp" | "connected">;

class MergedTopology implements TopologyKeeper {
  readonly #ports: TopologyKeeperPorts;
  readonly #now: () => number;
  readonly #wakeup: Wakeup;
  readonly #listeners = new Set<() => void>();
  readonly #taken = new Map<string, Taken>();
  #topology: Topology;
  #unsaved = new UnsavedTopology();
  #sequence = 0;
  #ledgerChanged = false;
  /** The last attempt to save failed. */
  #failing = false;

  constructor(ports: TopologyKeeperPorts, topology: Topology, now: () => number) {
    this.#ports = ports;
    this.#now = now;
    this.#topology = topology;
    this.#wakeup = new Wakeup(ports.clock);
    for (const view of ports.registry.views()) this.#taken.set(view.id, { ...view, connected: false });
    ports.registry.onChange((id) => this.#takeRack(id));
    ports.ledger.onChange((changes) => {
      if (changes?.some(isOfVip) === false) return;
      this.#ledgerChanged = true;
      this.#wakeup.nudge();
    });
  }

  current(): Topology {
    if (this.#ledgerChanged) this.#takeLedger();
    return this.#advance();
  }

  holder(site: string, address: IpAddress): ObservedHolder | null {
    return keptHolder(this.#advance(), site, address);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async moves(asked: Parameters<TopologyStore["moves"]>[0]): ReturnType<TopologyStore["moves"]> {
    if (!this.#unsaved.isEmpty) await this.#save();
    return this.#ports.store.topology.moves(asked);
  }

  async run(signal: AbortSignal): Promise<void> {
    let due = nextChange(this.current());
    let savedAt = 0;
    for (;;) {
      const now = this.#now();
      if (due !== null && due <= now) this.#tell();
      if (!this.#unsaved.isEmpty || now - savedAt >= PERIOD_MS || signal.aborted) {
        await this.#save();
        if (!this.#failing) savedAt = now;
      }
      if (signal.aborted) return;
      this.#wakeup.take()();
      due = nextChange(this.current());
      const dueMs = Math.min(due === null ? PERIOD_MS : due - this.#now(), this.#failing ? RETRY_MS : PERIOD_MS);
      await this.#wakeup.wait({ atLeastMs: PASS_INTERVAL_MS, atMostMs: Math.max(dueMs, PASS_INTERVAL_MS) }, signal);
    }
  }

  /** The registry calls for leases too, which are none of ours: most calls end at the first comparison. */
  #takeRack(id: string): void {
    const view = this.#ports.registry.view(id);
    const taken = this.#taken.get(id);
    if (view === null) {
      this.#taken.delete(id);
      this.#follow(id, { topology: removeRack(this.#topology, id, this.#now()), events: [] });
      return;
    }
    const reported =
      taken?.interfaces !== view.interfaces ||
      taken.knowledge !== view.knowledge ||
      taken.name !== view.name ||
      taken.site !== view.site;
    const same = taken?.daemons === view.daemons && taken.ntp === view.ntp && taken.connected === view.connected;
    if (!reported && same) return;
    this.#taken.set(id, view);
    this.#follow(id, this.#stepOf(view, reported));
  }

  #stepOf(view: RackView, reported: boolean): TopologyStep {
    const { id: rack, connected } = view;
    const now = this.#now();
    this.#sequence += 1;
    const merged =
      reported && view.interfaces.length > 0
        ? mergeReport(this.#topology, reportOf(view, this.#sequence), now)
        : { topology: this.#topology, events: [] };
    const served = noteServers(merged.topology, { rack, servers: serversOf(view) }, now);
    const noted = noteConnection(served, { rack, connected }, now);
    return { topology: noted.topology, events: [...merged.events, ...noted.events] };
  }

  #follow(rack: string, { topology, events }: TopologyStep): void {
    this.#unsaved.noteRack(this.#topology, topology, rack);
    this.#topology = topology;
    for (const event of events) this.#note(event);
    this.#tell();
    this.#wakeup.nudge();
  }

  #note(event: TopologyEvent): void {
    const { log } = this.#ports;
    if (event.type !== "vip-moved") {
      log.warn(event, "a rack's report is odd");
      return;
    }
    const { site, address, at } = event;
    const move = { site, address, from: nameOf(this.#topology, event.from), to: nameOf(this.#topology, event.to), at };
    log.info(move, "virtual address moved");
    this.#unsaved.noteMove(move);
  }

  #advance(): Topology {
    this.#topology = advanceTopology(this.#topology, this.#now());
    return this.#topology;
  }

  /** Virtual addresses that the ledger gave out are virtual wherever they are seen. Asked for when somebody looks, not at every commit. */
  #takeLedger(): void {
    this.#ledgerChanged = false;
    const before = this.#topology;
    const { topology, events } = noteKnowledge(before, knowledgeOf(this.#ports), this.#now());
    this.#topology = topology;
    for (const { report } of topology.racks.values())
      if (before.racks.get(report.rack) !== topology.racks.get(report.rack))
        this.#unsaved.noteRack(before, topology, report.rack);
    for (const event of events) this.#note(event);
    if (before.racks !== topology.racks) this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** What cannot be saved is logged once and tried again with the next pass. */
  async #save(): Promise<void> {
    const saving = this.#unsaved;
    this.#unsaved = new UnsavedTopology();
    try {
      await this.#ports.store.topology.save(saving.changeOf(this.#topology, this.#now()));
      this.#failing = false;
    } catch (error) {
      this.#unsaved.takeBack(saving);
      if (!(error instanceof EnvironmentError)) throw error;
      if (!this.#failing) this.#ports.log.error({ error: describeError(error) }, "the topology is not saved; tried again");
      this.#failing = true;
    }
  }
}

function knowledgeOf({ addresses, ledger }: Pick<TopologyKeeperPorts, "addresses" | "ledger">): RegionKnowledge {
  return {
    real: new Set(addresses.real),
    vips: new Set(addresses.vips),
    ledgerVips: new Set(ledger.vips().map(({ address }) => address)),
  };
}

function isOfVip(change: LedgerChange): boolean {
  return change.table === "allocation" && (change.before?.kind === "vip" || change.after?.kind === "vip");
}
