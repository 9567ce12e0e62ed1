import {
  pairsIn,
  planRacks,
  prefixContains,
  slicesIn,
  ZoneComposer,
  type DesiredState,
  type IpAddress,
  type PlanFacts,
  type PlanPolicy,
  type Problem,
  type RackView,
  type RegionPlan,
  type Topology,
} from "@berth/core";
import { describeError, EnvironmentError, type Clock, type Log } from "@berth/host";
import type { Ledger } from "../ledger/ledger.js";
import type { Store } from "../store/store.js";
import { PlanMemory } from "./plan-memory.js";
import { PlanNumbers } from "./plan-numbers.js";
import { PlannedFacts, type PlannedLedger } from "./planned-facts.js";
import { Wakeup } from "./wakeup.js";
import { Withdrawals } from "./withdrawals.js";

/**
 * Decides what every rack must run, from the ledger and from what the racks see. It looks at the newest state whenever something may have
 * changed and once a minute besides; nothing depends on having seen every change.
 */
export interface Planner extends PlanFacts {
  /** Lives until aborted. */
  run(signal: AbortSignal): Promise<void>;
  /** The newest desired state of a rack, in the store already; null when nothing was planned for it yet. */
  desiredFor(rackId: string): DesiredState | null;
  /** What keeps the ledger from being served as declared. */
  problems(): readonly Problem[];
  /** Called with the rack's id when `desiredFor` answers a newer generation. Returns the way to stop. */
  onDesired(listener: (rackId: string) => void): () => void;
  /** What the racks see may have changed: look again soon. Changes of the ledger need no nudge. */
  nudge(): void;
  /** Resolves when a pass that began after this call has ended. */
  settled(): Promise<void>;
}

export interface PlannerPorts {
  readonly ledger: PlannedLedger & Pick<Ledger, "subnets" | "reservations" | "records" | "onChange">;
  readonly racks: () => readonly RackView[];
  readonly store: Pick<Store, "plans">;
  readonly clock: Clock;
  readonly log: Log;
  readonly policy: PlanPolicy;
  /** All racks' reports merged over time; left out, each pass makes one of their newest reports. */
  readonly topology?: () => Topology;
}

/** A burst of changes is planned together: after a pass the next waits at least this long, and longer where passes take long. */
const PASS_INTERVAL_MS = 50;
/** So that planning takes at most a fifth of the time of a region in which leases change all the time. */
const REST_PER_PASS = 4;
const PERIOD_MS = 60_000;
const RETRY_MS = 1000;

/** Loads what was planned before, so that `desiredFor` answers at once; plans only while it runs. */
export async function createPlanner(ports: PlannerPorts): Promise<Planner> {
  const stored = await ports.store.plans.load();
  const memory = new PlanMemory();
  memory.keep(stored.desired, stored.serials);
  return new LedgerPlanner(ports, memory);
}

class LedgerPlanner implements Planner {
  readonly #ports: PlannerPorts;
  readonly #memory: PlanMemory;
  readonly #wakeup: Wakeup;
  readonly #numbers: PlanNumbers;
  readonly #composer = new ZoneComposer();
  readonly #facts: PlannedFacts;
  readonly #withdrawals = new Withdrawals();
  readonly #listeners = new Set<(rackId: string) => void>();
  #problems: readonly Problem[] = [];
  /** Racks that came with more than this store ever knew, by id. */
  readonly #ahead = new Map<string, Problem>();

  constructor(ports: PlannerPorts, memory: PlanMemory) {
    this.#ports = ports;
    this.#facts = new PlannedFacts(ports.ledger);
    this.#memory = memory;
    this.#numbers = new PlanNumbers(memory);
    this.#wakeup = new Wakeup(ports.clock);
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#facts.forget(null); // nobody told of what changed before
    const stop = this.#ports.ledger.onChange((changes) => {
      this.#facts.forget(changes);
      this.#wakeup.nudge();
    });
    try {
      let failing = false;
      while (!signal.aborted) {
        const began = this.#ports.clock.monotonic();
        const dueMs = await this.#tryPass(failing);
        failing = dueMs === null;
        const restMs = Math.max(PASS_INTERVAL_MS, (this.#ports.clock.monotonic() - began) * REST_PER_PASS);
        const atLeastMs = failing ? RETRY_MS : restMs;
        await this.#wakeup.wait({ atLeastMs, atMostMs: Math.max(dueMs ?? RETRY_MS, atLeastMs) }, signal);
      }
    } finally {
      stop();
    }
  }

  desiredFor(rackId: string): DesiredState | null {
    return this.#memory.stateOf(rackId);
  }

  problems(): readonly Problem[] {
    return [...this.#ahead.values(), ...this.#problems];
  }

  onDesired(listener: (rackId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  nudge(): void {
    this.#wakeup.nudge();
  }

  withdrawnAt(rackId: string, releasedAt: number): number | null {
    return this.#withdrawals.withdrawnAt(rackId, releasedAt);
  }

  enlistmentSubnet(rackId: string, address: IpAddress): number | null {
    const subnets = this.#memory.stateOf(rackId)?.subnets ?? [];
    return subnets.find(({ enlistment }) => enlistment !== null && prefixContains(enlistment.slice, address))?.id ?? null;
  }

  settled(): Promise<void> {
    return this.#wakeup.nextPass();
  }

  /** After how many milliseconds the next pass is due by itself; null when this one could not be saved, which is logged once. */
  async #tryPass(failing: boolean): Promise<number | null> {
    const answer = this.#wakeup.take();
    try {
      const dueMs = await this.#pass();
      answer();
      return dueMs;
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      if (!failing)
        this.#ports.log.error({ error: describeError(error) }, "plans are not saved, so none is handed out; tried again");
      return null;
    }
  }

  async #pass(): Promise<number> {
    const { ledger, racks, store, clock, policy, topology } = this.#ports;
    const now = clock.now();
    const views = racks();
    const lists = { subnets: ledger.subnets(), reservations: ledger.reservations(), records: ledger.records() };
    const sources = { ...lists, facts: this.#facts, composer: this.#composer, racks: views, now, policy };
    const merged = topology === undefined ? {} : { topology: topology() };
    const before = [...this.#memory.states()];
    const plan = planRacks({ ...sources, ...merged }, slicesIn(before), pairsIn(before));
    this.#problems = plan.problems;
    this.#noteAhead(views);
    const { desired, serials } = this.#numbers.number(plan, views, now);
    if (desired.length > 0 || serials.length > 0) await store.plans.save(desired, serials);
    this.#memory.keep(desired, serials);
    this.#noteWithdrawals(plan, views, now);
    for (const { state } of desired) for (const listener of this.#listeners) listener(state.rack);
    return plan.changesAt === null ? PERIOD_MS : Math.min(Math.max(plan.changesAt - now, PASS_INTERVAL_MS), PERIOD_MS);
  }

  #noteWithdrawals(plan: RegionPlan, racks: readonly RackView[], now: number): void {
    for (const { rack } of plan.sites.flatMap((site) => site.racks)) {
      const state = this.#memory.stateOf(rack);
      if (state !== null) this.#withdrawals.noteCurrent(rack, state.generation, now);
    }
    for (const rack of racks) this.#withdrawals.noteRunning(rack, now);
  }

  /** Told until this coordinator ends: what came after the backup is gone, and somebody has to know before the racks forget it too. */
  #noteAhead(racks: readonly RackView[]): void {
    for (const { id, name, accepted } of racks) {
      const known = this.#memory.stateOf(id)?.generation ?? 0;
      if (known > 0 && accepted > known) this.#ahead.set(id, aheadProblem(name, { accepted, known }));
    }
    for (const id of this.#ahead.keys()) if (!racks.some((rack) => rack.id === id)) this.#ahead.delete(id);
  }
}

function aheadProblem(rack: string, { accepted, known }: { readonly accepted: number; readonly known: number }): Problem {
  return {
    code: "region-behind-rack",
    at: rack,
    message: `${rack} had generation ${accepted} and this region knew of ${known}: its ledger is an older one, the racks follow it now, and what was enrolled or released since is lost`,
    remedy: "restore a newer backup, or enroll anew what is missing, with --address where a machine still has its address",
  };
}
