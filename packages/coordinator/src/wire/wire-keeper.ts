import {
  foreignHolders,
  PROBE_ADDRESSES_MAX,
  prefixContains,
  servedSubnets,
  usedByOther,
  verificationOf,
  type AgentMessage,
  type Allocation,
  type HardwareAddress,
  type IpAddress,
  type Problem,
  type Subnet,
  type Verification,
  type WireAnswer,
  type WireRecord,
  type WireRecords,
} from "@berth/core";
import { describeError, EnvironmentError, type Clock, type Log } from "@berth/host";
import type { WirePort } from "../hub/session.js";
import type { Ledger } from "../ledger/ledger.js";
import { Wakeup } from "../plan/wakeup.js";
import type { RackRegistry } from "../racks/rack-registry.js";
import type { WireStore } from "../store/wire-store.js";
import { UnverifiedScan } from "./unverified-scan.js";

/** Keeps what racks hear on their wires, and has them probe what is to be given next and what was given unseen. */
export interface WireKeeper extends WirePort {
  verification(allocation: Allocation): Verification;
  /** Addresses at which somebody else answers than the machine that they belong to. */
  problems(): readonly Problem[];
  /** Called with a rack whose wishes changed. */
  onWishes(listener: (rackId: string) => void): void;
  /** Takes what another coordinator saved since, which has the racks; instead of {@link WireKeeper.run}. */
  reload(): Promise<void>;
  /** Decides what is to be probed and saves, until aborted and once more then. */
  run(signal: AbortSignal): Promise<void>;
}

export interface WireKeeperPorts {
  /** As loaded; the keeper alone changes it. */
  readonly records: WireRecords;
  /** Up to which save they are loaded. */
  readonly mark: number;
  readonly ledger: Pick<Ledger, "subnets" | "eachAllocation" | "allocationIn" | "nextAddresses" | "machine" | "onChange">;
  readonly registry: Pick<RackRegistry, "views" | "view" | "onChange">;
  readonly store: WireStore;
  readonly clock: Clock;
  readonly log: Log;
  /** For how long a foreign answer is believed. */
  readonly windowMs: number;
}

/** A pass follows a change after this long, so that a burst of allocations is one pass, and comes without one as seldom as this. */
const PASS_MS = 2_000;
const PERIOD_MS = 15_000;
/** Records saved in one transaction. */
const SAVED_MAX = 4_096;

export function createWireKeeper(ports: WireKeeperPorts): WireKeeper {
  return new KeptWire(ports);
}

class KeptWire implements WireKeeper {
  readonly #ports: WireKeeperPorts;
  readonly #wakeup: Wakeup;
  readonly #scan: UnverifiedScan;
  readonly #wishes = new Map<string, readonly IpAddress[]>();
  readonly #listeners: ((rackId: string) => void)[] = [];
  /** Not saved yet, by site and address; null is gone. */
  #unsaved = new Map<string, { readonly record: WireRecord; readonly gone: boolean }>();
  /** Addresses of machines at which somebody else was heard, whether confirmed or not. */
  readonly #suspects = new Map<string, Pick<WireRecord, "site" | "address">>();
  #failing = false;
  #mark: number;

  constructor(ports: WireKeeperPorts) {
    this.#ports = ports;
    this.#mark = ports.mark;
    this.#wakeup = new Wakeup(ports.clock);
    this.#scan = new UnverifiedScan({
      eachAllocation: () => ports.ledger.eachAllocation(),
      isUnverified: (allocation) => this.verification(allocation) === "unverified",
    });
    for (const record of ports.records.all()) this.#judge(record);
    ports.ledger.onChange((changes) => {
      if (changes === null) this.#scan.restart();
      else this.#scan.note(changes);
      this.#wakeup.nudge();
    });
    ports.registry.onChange(() => this.#wakeup.nudge());
  }

  hear(rackId: string, { answers, now: told }: Extract<AgentMessage, { readonly type: "wire" }>): void {
    const view = this.#ports.registry.view(rackId);
    if (view === null) return;
    const now = this.#ports.clock.now();
    const shift = told === undefined ? 0 : now - told;
    for (const answer of answers) this.#note(view, { ...answer, at: Math.max(0, Math.min(Math.round(answer.at + shift), now)) });
    for (const record of this.#ports.records.trim()) this.#unsaved.set(keyOf(record), { record, gone: true });
    this.#wakeup.nudge();
  }

  wishesFor(rackId: string): readonly IpAddress[] {
    return this.#wishes.get(rackId) ?? [];
  }

  onWishes(listener: (rackId: string) => void): void {
    this.#listeners.push(listener);
  }

  verification(allocation: Allocation): Verification {
    const subnet = this.#ports.ledger.subnets().find(({ id }) => id === allocation.subnetId);
    const record = subnet === undefined ? undefined : this.#ports.records.get(subnet.site, allocation.address);
    return verificationOf(allocation, record, this.#nicsOf(allocation));
  }

  problems(): readonly Problem[] {
    const problems: Problem[] = [];
    for (const [key, suspect] of this.#suspects) {
      const found = this.#foreignAt(suspect);
      if (found === null) this.#suspects.delete(key);
      else if (found.record.confirmed) problems.push(usedByOther(found));
    }
    return problems.sort((a, b) => (a.at < b.at ? -1 : 1));
  }

  async reload(): Promise<void> {
    const { records, mark } = await this.#ports.store.load(this.#mark);
    for (const record of records) this.#ports.records.take(record);
    this.#ports.records.trim();
    this.#mark = mark;
  }

  async run(signal: AbortSignal): Promise<void> {
    for (;;) {
      this.#wakeup.take()();
      if (!signal.aborted) this.#decideWishes();
      await this.#save();
      if (signal.aborted) return;
      await this.#wakeup.wait({ atLeastMs: PASS_MS, atMostMs: PERIOD_MS }, signal);
    }
  }

  #note({ site, name }: { readonly site: string; readonly name: string }, answer: WireAnswer): void {
    const record = this.#ports.records.note({ site, rack: name }, answer);
    if (record === null) return;
    this.#unsaved.set(keyOf(record), { record, gone: false });
    this.#judge(record);
  }

  #judge(record: WireRecord): void {
    if (this.#foreignAt(record) !== null) this.#suspects.set(keyOf(record), { site: record.site, address: record.address });
  }

  /** Who answers at an allocated address without belonging there; null when nobody does. */
  #foreignAt({ site, address }: Pick<WireRecord, "site" | "address">): {
    readonly allocation: Allocation;
    readonly record: WireRecord;
    readonly foreign: readonly HardwareAddress[];
  } | null {
    const { ledger, records, clock, windowMs } = this.#ports;
    const record = records.get(site, address);
    if (record === undefined || clock.now() - (record.seenAt ?? 0) > windowMs) return null;
    const subnet = ledger.subnets().find((candidate) => candidate.site === site && prefixContains(candidate.prefix, address));
    const allocation = subnet === undefined ? null : ledger.allocationIn(subnet.id, address);
    if (allocation === null) return null;
    const foreign = foreignHolders(allocation, record, this.#nicsOf(allocation));
    return foreign.length === 0 ? null : { allocation, record, foreign };
  }

  #nicsOf({ machineId }: Allocation): readonly HardwareAddress[] {
    return machineId === null ? [] : (this.#ports.ledger.machine(machineId)?.nics ?? []);
  }

  /** One rack of a site probes a subnet: the first of those that are connected. */
  #decideWishes(): void {
    const { registry, ledger } = this.#ports;
    const subnets = ledger.subnets();
    const prober = new Map<number, string>();
    for (const view of registry.views().filter(({ connected }) => connected))
      for (const { id } of servedSubnets(subnets, view)) if (!prober.has(id)) prober.set(id, view.id);
    const wishes = new Map<string, IpAddress[]>();
    const wish = (subnetId: number, addresses: readonly IpAddress[]): void => {
      const rackId = prober.get(subnetId);
      if (rackId === undefined) return;
      const list = wishes.get(rackId);
      if (list === undefined) wishes.set(rackId, [...addresses]);
      else list.push(...addresses);
    };
    for (const { site, address } of this.#suspects.values()) {
      const subnet = subnets.find((candidate) => candidate.site === site && prefixContains(candidate.prefix, address));
      if (subnet !== undefined) wish(subnet.id, [address]);
    }
    for (const { id } of subnets) if (prober.has(id)) wish(id, ledger.nextAddresses(id));
    for (const { subnetId, address } of this.#scan.pass()) wish(subnetId, [address]);
    this.#tell(wishes, subnets);
  }

  #tell(wishes: ReadonlyMap<string, readonly IpAddress[]>, subnets: readonly Subnet[]): void {
    const racks = new Set([...wishes.keys(), ...this.#wishes.keys()]);
    for (const rackId of racks) {
      const now = [...new Set(wishes.get(rackId) ?? [])].slice(0, PROBE_ADDRESSES_MAX);
      if (now.join() === this.wishesFor(rackId).join()) continue;
      if (now.length === 0) this.#wishes.delete(rackId);
      else this.#wishes.set(rackId, now);
      for (const listener of this.#listeners) listener(rackId);
    }
    this.#ports.log.debug({ racks: racks.size, subnets: subnets.length }, "decided what racks probe");
  }

  /** What cannot be saved is logged once and tried again with the next pass. */
  async #save(): Promise<void> {
    while (this.#unsaved.size > 0) {
      const saving = [...this.#unsaved].slice(0, SAVED_MAX);
      for (const [key] of saving) this.#unsaved.delete(key);
      const [gone, kept] = [saving.filter(([, entry]) => entry.gone), saving.filter(([, entry]) => !entry.gone)];
      try {
        await this.#ports.store.save({
          records: kept.map(([, { record }]) => record),
          gone: gone.map(([, { record }]) => record),
        });
        this.#failing = false;
      } catch (error) {
        this.#unsaved = new Map([...saving, ...this.#unsaved]);
        if (!(error instanceof EnvironmentError)) throw error;
        if (!this.#failing) this.#ports.log.error({ error: describeError(error) }, "what racks heard is not saved; tried again");
        this.#failing = true;
        return;
      }
    }
  }
}

function keyOf({ site, address }: Pick<WireRecord, "site" | "address">): string {
  return `${site} ${address}`;
}
