import { basename, dirname } from "node:path";
import {
  checkFollow,
  judgeReread,
  stepFollow,
  type FollowAction,
  type FollowSighting,
  type FollowState,
  type FollowStep,
  type Lease,
  type LeasePages,
  type LeaseReader,
  type RereadReason,
} from "@berth/core";
import { EnvironmentError, describeError, type Clock, type Log } from "@berth/host";
import { createAlarm, type Alarm } from "./alarm.js";
import { AnnouncedChange, collectChange } from "./collect-change.js";
import { watchLeasesDirectory, type DirectoryPorts, type WatchedDirectory } from "./directory.js";
import type { LeaseChange, LeaseFollower, LeaseFollowerHealth } from "./model.js";
import { openReading, UNSEEN, type Reading, type Seen } from "./reading.js";

export interface LeaseFollowerOptions {
  /** Absolute path of the leases file. */
  readonly path: string;
  readonly clock: Clock;
  readonly ports: DirectoryPorts;
  readonly log: Log;
  /** A reader for one file from its start. */
  readonly createReader: () => LeaseReader;
  /** Files that belong before it (Kea's), oldest first, in alternatives: the first one of which any file exists is read. Default none. */
  readonly filesBefore?: readonly (readonly string[])[];
  /** Looks at the path at least this often, whatever the events say. Default 1000. */
  readonly pollMs?: number;
  /** How long the file may be away before that is a problem. Default 5000. */
  readonly graceMs?: number;
  /** How long an emptied or unfinished file must be quiet before its emptiness is believed. Default 1000. */
  readonly settleMs?: number;
}

/** The wall clock is slewed by less than this between two looks. */
const CLOCK_STEP_MIN_MS = 1_000;

/** A reading that does not stand yet. */
interface Candidate extends Reading {
  readonly reason: RereadReason;
  /** Monotonic, when it last grew. */
  grownAt: number;
}

export function createLeaseFollower(options: LeaseFollowerOptions): LeaseFollower {
  const follower = new FileFollower(options);
  return {
    run: (signal) => follower.run(signal),
    snapshot: () => follower.pages().slice(0, Number.POSITIVE_INFINITY),
    pages: () => follower.pages(),
    leasesOf: (hardwareAddresses) => follower.leasesOf(hardwareAddresses),
    lease: (key) => follower.lease(key),
    health: () => follower.health(),
    onChange: (listener) => follower.onChange(listener),
  };
}

class FileFollower {
  readonly #options: Required<LeaseFollowerOptions>;
  readonly #listeners = new Set<(change: LeaseChange) => void>();
  readonly #directory: WatchedDirectory;
  #alarm: Alarm | null = null;
  /** A pass is under way: whoever wakes it must leave the descriptors alone. */
  #busy = false;
  /** The listeners were called in this turn. */
  #toldNow = false;
  #state: FollowState = { kind: "starting" };
  /** What stands: its table is what everybody is told. */
  #current: Reading | null = null;
  #candidate: Candidate | null = null;
  #size = 0;
  #generation = 0;
  /** Wall time at which everybody was last told what is in use. */
  #judgedAt = 0;
  #changedAt: number | null = null;
  #lookedAt: number | null = null;
  #tendAt = 0;
  /** What the wall clock is ahead of the monotonic one. */
  #clockAhead: number | null = null;
  #clockStepMs: number | null = null;
  /** Codes of what is wrong with the folder or its disk. */
  #told: ReadonlySet<string> = new Set();

  constructor(options: LeaseFollowerOptions) {
    this.#options = { filesBefore: [], pollMs: 1000, graceMs: 5000, settleMs: 1000, ...options };
    const name = basename(options.path);
    this.#directory = watchLeasesDirectory(dirname(options.path), options.ports, {
      concerns: (entry) => entry === null || entry === name,
      wake: () => this.#wake(),
    });
  }

  onChange(listener: (change: LeaseChange) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async run(signal: AbortSignal): Promise<void> {
    const alarm = createAlarm(this.#options.clock, signal);
    this.#alarm = alarm;
    try {
      while (!signal.aborted) {
        this.#busy = true;
        await this.#pass();
        this.#busy = false;
        await alarm.waitUntil(this.#nextPassAt()).catch(rethrowUnless(signal));
      }
    } finally {
      this.#directory.close();
      await this.#candidate?.tail.close();
      await this.#current?.tail.close();
    }
  }

  /**
   * Most events are appends to the file that is open: they are read and told at once, before anything is looked at, because the look costs
   * more than the read, and the old descriptor would be drained first in any case. What the clock ended is told after the look, in the
   * next turn.
   */
  #wake(): void {
    if (this.#toldNow) return; // the next turn looks, whatever else comes in this one
    if (!this.#readNow()) {
      this.#alarm?.ring();
      return;
    }
    this.#toldNow = true;
    setImmediate(() => {
      this.#toldNow = false;
      this.#alarm?.ring();
    });
  }

  #readNow(): boolean {
    const current = this.#current;
    if (this.#busy || this.#state.kind !== "following" || current === null) return false;
    try {
      return current.tail.readNow((bytes) => current.reader.push(bytes)) && this.#tell(current.reader.table.takeChanges(), false);
    } catch (error) {
      if (error instanceof EnvironmentError) return false; // the look meets it again and names it
      throw error;
    }
  }

  /** One look and everything that follows from it; ends with at most one call of the listeners. */
  async #pass(): Promise<void> {
    const { clock, pollMs } = this.#options;
    if (clock.monotonic() >= this.#tendAt) {
      await this.#guard(() => this.#directory.tend());
      this.#tendAt = clock.monotonic() + pollMs;
      this.#noteDirectory();
    }
    const changed = new Set<string>();
    const first = (await this.#guard(() => this.#look(changed))) ?? false;
    this.#publish(changed, first);
  }

  /** Answers whether the first table of all came to stand; `changed` gets the keys in which a new table differs. */
  async #look(changed: Set<string>): Promise<boolean> {
    const { clock, path } = this.#options;
    const answer = this.#directory.files.stamp(path);
    const stamp = answer instanceof Promise ? await answer : answer;
    this.#lookedAt = clock.monotonic();
    this.#size = stamp?.size ?? 0;
    const { state, action } = this.#step(stamp === null ? { kind: "absent" } : { kind: "file", ...stamp });
    await this.#act(action, stamp ?? UNSEEN);
    this.#enter(state); // after the act: a disk that can be looked at but not read is failing, and stays so
    return this.#settle(changed);
  }

  async #act(action: FollowAction, seen: Seen): Promise<void> {
    switch (action.kind) {
      case "none":
        return;
      case "drain":
        await this.#drop();
        await this.#drain();
        return;
      case "read":
        await this.#readOn(seen);
        return;
      case "reread":
        if (action.drain) await this.#drain();
        await this.#reread(action.reason, seen);
    }
  }

  async #readOn(seen: Seen): Promise<void> {
    const reading = this.#candidate ?? this.#current;
    if (reading === null) return;
    const before = reading.reader.offset;
    const end = await reading.tail.readOn(seen, (bytes) => reading.reader.push(bytes));
    if (end === "overwritten") await this.#reread("overwritten", seen);
    else if (reading === this.#candidate && reading.reader.offset > before) {
      this.#candidate.grownAt = this.#options.clock.monotonic();
    }
  }

  /** What the old descriptor got before its name went away; overwritten content is not ours any more. */
  async #drain(): Promise<void> {
    const current = this.#current;
    await current?.tail.readOn(UNSEEN, (bytes) => current.reader.push(bytes));
  }

  async #reread(reason: RereadReason, seen: Seen): Promise<void> {
    await this.#drop();
    const reading = await openReading(this.#directory.files, this.#options, seen);
    if (reading === null) return; // gone or moved on since the look; the next one will say so
    this.#candidate = { ...reading, reason, grownAt: this.#options.clock.monotonic() };
  }

  async #drop(): Promise<void> {
    const candidate = this.#candidate;
    this.#candidate = null;
    await candidate?.tail.close();
  }

  /** Lets the candidate take the place of the table in force, if it is fit to. */
  async #settle(changed: Set<string>): Promise<boolean> {
    const candidate = this.#candidate;
    if (candidate === null) return false;
    const { clock, settleMs } = this.#options;
    const quietMs = clock.monotonic() - candidate.grownAt;
    const found = { declarations: declarations(candidate), unfinished: candidate.reader.pendingTail, quietMs };
    const known = this.#current === null ? 0 : declarations(this.#current);
    if (judgeReread(found, known, settleMs) === "wait") {
      const since = this.#state.kind === "settling" ? this.#state.since : clock.monotonic();
      this.#enter({ kind: "settling", since, reason: candidate.reason });
      return false;
    }
    const previous = this.#current;
    this.#current = { tail: candidate.tail, reader: candidate.reader };
    this.#candidate = null;
    this.#generation += 1;
    this.#enter({ kind: "following" });
    if (previous === null) return true;
    const { table } = candidate.reader;
    this.#judgedAt = clock.now();
    for (const key of previous.reader.table.takeLapses(this.#judgedAt)) changed.add(key);
    for (const key of previous.reader.table.takeChanges()) changed.add(key);
    for (const key of table.changesFrom(previous.reader.table)) changed.add(key);
    table.takeLapses(this.#judgedAt);
    table.takeChanges();
    await previous.tail.close();
    return false;
  }

  #step(sighting: FollowSighting): FollowStep {
    const { clock, graceMs } = this.#options;
    const position = (this.#candidate ?? this.#current)?.tail.position ?? null;
    return stepFollow({ state: this.#state, position }, sighting, { at: clock.monotonic(), graceMs });
  }

  #enter(state: FollowState): void {
    const before = this.#state;
    this.#state = state;
    if (before.kind === state.kind) return;
    const { log, path } = this.#options;
    const [problem] = checkFollow(path, state, { watching: { kind: "events" }, freeBytes: null });
    if (problem !== undefined) log.warn({ path, code: problem.code }, problem.message);
    else log.debug({ path, from: before.kind, to: state.kind }, "leases file");
  }

  /** Trouble of the world becomes a state; everything that was known stands. */
  async #guard<T>(call: () => Promise<T>): Promise<T | null> {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      const problem = { code: error.code, at: error.at, message: describeError(error), ...remedyOf(error) };
      this.#enter(this.#step({ kind: "failed", blocked: error.code === "file-unreadable", problem }).state);
      return null;
    }
  }

  /** Tells what changed by the file (`keys` and what the table in force noted) and by the clock, all judged at one time. */
  #publish(keys: Set<string>, reset: boolean): void {
    this.#noteClock();
    if (this.#current === null) return;
    const { table } = this.#current.reader;
    this.#judgedAt = this.#options.clock.now();
    for (const key of table.takeLapses(this.#judgedAt)) keys.add(key);
    for (const key of table.takeChanges()) keys.add(key);
    this.#tell([...keys], reset);
  }

  /** What is wrong with the folder or its disk is told once, when it begins. */
  #noteDirectory(): void {
    const { log, path } = this.#options;
    const problems = checkFollow(path, { kind: "following" }, this.#directory);
    for (const { code, message } of problems) if (!this.#told.has(code)) log.warn({ path, code }, message);
    this.#told = new Set(problems.map(({ code }) => code));
  }

  /** A wall clock that was set shows in health and log; the table follows it, in either direction, by `takeLapses`. */
  #noteClock(): void {
    const { clock, log, path } = this.#options;
    const ahead = clock.now() - clock.monotonic();
    const stepMs = this.#clockAhead === null ? 0 : Math.round(ahead - this.#clockAhead);
    this.#clockAhead = ahead;
    if (Math.abs(stepMs) < CLOCK_STEP_MIN_MS) return;
    this.#clockStepMs = stepMs;
    log.warn({ path, code: "clock-stepped", stepMs }, "the wall clock was set; leases are judged by it anew");
  }

  /**
   * Answers whether there was anything to tell. It is told as of the time for which the lapses were taken last: told by a later one, a clock that is then set back
   * would bring the lease to life again for the table and not for who listens.
   */
  #tell(keys: readonly string[], reset: boolean): boolean {
    if (this.#current === null || (keys.length === 0 && !reset)) return false;
    const { table } = this.#current.reader;
    const change = new AnnouncedChange(table, keys, { reset, now: this.#judgedAt });
    this.#changedAt = this.#options.clock.monotonic();
    for (const listener of [...this.#listeners]) listener(change);
    return true;
  }

  /** Monotonic: the poll, the next lapse or the end of the wait for a quiet file, whichever comes first. */
  #nextPassAt(): number {
    const { clock, pollMs, settleMs } = this.#options;
    const at = clock.monotonic();
    const lapse = this.#current?.reader.table.nextLapse(this.#judgedAt) ?? null;
    const lapseAt = lapse === null ? Number.POSITIVE_INFINITY : at + Math.max(0, lapse - clock.now());
    const settleAt = this.#candidate === null ? Number.POSITIVE_INFINITY : this.#candidate.grownAt + settleMs;
    return Math.min(at + pollMs, lapseAt, settleAt);
  }

  pages(): LeasePages {
    const keys = [...(this.#current?.reader.table.keys() ?? [])];
    return { length: keys.length, slice: (from, to) => this.#reports(keys.slice(from, to)) };
  }

  leasesOf(hardwareAddresses: Iterable<string>): LeaseChange["upserts"] {
    const table = this.#current?.reader.table;
    if (table === undefined) return [];
    return this.#reports([...hardwareAddresses].flatMap((address) => table.keysOfHardware(address)));
  }

  #reports(keys: readonly string[]): LeaseChange["upserts"] {
    const table = this.#current?.reader.table;
    return table === undefined ? [] : collectChange(table, keys, this.#options.clock.now()).upserts;
  }

  lease(key: string): Lease | null {
    return this.#current?.reader.table.get(key) ?? null;
  }

  health(): LeaseFollowerHealth {
    const at = this.#options.clock.monotonic();
    const reader = this.#current?.reader;
    const newest = (this.#candidate ?? this.#current)?.tail.position;
    const offset = newest?.offset ?? 0;
    return {
      state: this.#state,
      watching: this.#directory.watching,
      freeBytes: this.#directory.freeBytes,
      offset,
      lagBytes: Math.max(0, this.#size - offset),
      generation: this.#generation,
      identity: this.#current?.tail.position.identity ?? null,
      leases: reader?.table.size ?? 0,
      hosts: reader?.table.hosts.size ?? 0,
      pendingTail: reader?.pendingTail ?? false,
      skippedDeclarations: reader?.skippedDeclarations ?? 0,
      lastChangeAgeMs: this.#changedAt === null ? null : Math.round(at - this.#changedAt),
      lastLookAgeMs: this.#lookedAt === null ? null : Math.round(at - this.#lookedAt),
      wakes: this.#directory.wakes,
      clockStepMs: this.#clockStepMs,
      problems: checkFollow(this.#options.path, this.#state, this.#directory),
    };
  }
}

function declarations(reading: Reading): number {
  return reading.reader.table.size + reading.reader.table.hosts.size;
}

function remedyOf(error: EnvironmentError): { remedy?: string } {
  return error.remedy === undefined ? {} : { remedy: error.remedy };
}

function rethrowUnless(signal: AbortSignal): (reason: unknown) => void {
  return (reason) => {
    if (!signal.aborted) throw reason;
  };
}
