import {
  findAmong,
  observedBy,
  undoOf,
  type Decision,
  type IpAddress,
  type LedgerChange,
  type LedgerState,
  type Observed,
  type ObservedHolder,
  type RackFinder,
  type RackView,
  type Result,
  type PlanFacts,
  type WireSightings,
} from "@berth/core";
import { EnvironmentError, describeError, type Clock, type Log } from "@berth/host";
import type { AuditEntry, CommitContent, LedgerNews, LedgerStore, SharedLedger } from "../store/store.js";
import type { Asker } from "./asker.js";
import { decideCommand } from "./decide-command.js";

/** Commands in one commit; more wait for the next. */
const GROUP_MAX = 1024;
/** Commits made in turn after another coordinator was first; as many of them without news of others end it. */
const TURNS_AFTER_LOSS = 16;

/** What a command sees when its turn comes. `now` in milliseconds since 1970. */
export interface Turn {
  readonly state: LedgerState;
  readonly observed: Observed;
  readonly now: number;
}

export interface Command<T> extends Asker {
  /** Stable kebab-case, for the audit log. */
  readonly action: string;
  readonly decide: (turn: Turn) => Result<Decision<T>>;
  /** What it was done to, for the audit log. */
  readonly subject: (value: T) => string;
  /** The record that it changes, as it is now, for the asker's condition; null where there is none. Left out, no condition applies. */
  readonly current?: (state: LedgerState) => unknown;
}

interface Waiting {
  readonly command: Command<unknown>;
  readonly resolve: (result: Result<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

interface Answer {
  readonly waiting: Waiting;
  readonly result: Result<unknown>;
}

/** A group's decisions: its changes are in memory already. */
interface Decided extends CommitContent {
  readonly group: readonly Waiting[];
  readonly answers: readonly Answer[];
}

export interface QueuePorts {
  readonly store: LedgerStore;
  readonly racks: () => readonly RackView[];
  /** Finds among them without looking through them. */
  readonly finder?: RackFinder;
  readonly clock: Clock;
  readonly log: Log;
  readonly plans?: PlanFacts;
  /** What racks had or will have though they do not show it now: a VIP between two of them. */
  readonly kept?: (site: string, address: IpAddress) => ObservedHolder | null;
  /** Who was heard on the wires, and for how long that keeps an address from being given. Left out, nothing is known of them. */
  readonly wire?: WireSightings;
  readonly wireWindowMs?: number;
}

/**
 * Decides commands one after the other on the state in memory and commits all that came in one turn of the event loop together. Answers
 * leave after the commit. When it fails, memory goes back to what the store has and every caller of the group gets the error, because each
 * answer may rest on another's change.
 */
export class CommitQueue {
  /** Decided, not yet committed: what readers must not see. */
  inFlight: readonly LedgerChange[] = [];
  private readonly state: LedgerState;
  private readonly ports: QueuePorts;
  private readonly committed: (revision: number, changes: readonly LedgerChange[] | null) => void;
  private waiting: Waiting[] = [];
  private running: Promise<void> | null = null;
  /** The revision in memory. */
  private revision: number;
  /** The newest revision that was heard of; infinity when there may be any. */
  private heard = 0;
  private failing = false;
  /** Commits to come that are made in turn, because others commit too: a decision that another's commit undoes costs all of them. */
  private turns = 0;

  constructor(
    stored: { state: LedgerState; revision: number },
    ports: QueuePorts,
    committed: (revision: number, changes: readonly LedgerChange[] | null) => void,
  ) {
    this.state = stored.state;
    this.revision = stored.revision;
    this.ports = ports;
    this.committed = (revision, changes) => {
      this.revision = revision;
      committed(revision, changes);
    };
  }

  /** Another coordinator may have committed: memory follows before anything else is decided. */
  lookForNews(revision: number): void {
    this.heard = Math.max(this.heard, revision);
    if (this.heard > this.revision) this.running ??= this.run();
  }

  submit<T>(command: Command<T>): Promise<Result<T>> {
    return new Promise<Result<T>>((resolve, reject) => {
      // The queue holds commands of all answers; each resolve only ever gets what its own decide returned.
      this.waiting.push({ command, resolve, reject } as unknown as Waiting);
      this.running ??= this.run();
    });
  }

  async settled(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    const { shared } = this.ports.store;
    for (let isFirst = true; this.waiting.length > 0 || this.heard > this.revision; isFirst = false) {
      // Behind a commit of a server's no more is gathered: whoever waits came while it was on its way.
      if (isFirst || shared === null) await new Promise((resolve) => setImmediate(resolve));
      if (shared !== null && this.turns > 0 && this.waiting.length > 0) {
        await this.commitInTurn(shared);
        continue;
      }
      const group = this.take(GROUP_MAX);
      if ((await this.follow(group)) && group.length > 0) await this.commit(group);
    }
    this.running = null;
  }

  /** The next so many, in the order in which they came. */
  private take(count: number): readonly Waiting[] {
    const group = this.waiting.slice(0, count);
    this.waiting = this.waiting.slice(count);
    return group;
  }

  /** Takes over what others committed; false, and the group is told why, when the store does not say it. */
  private async follow(group: readonly Waiting[]): Promise<boolean> {
    const { shared } = this.ports.store;
    if (shared === null || this.heard <= this.revision) return true;
    this.heard = 0;
    try {
      for (let isAll = false; !isAll; ) {
        const news = await shared.news();
        if (news === null) break;
        this.takeOver(news);
        isAll = "isAll" in news && news.isAll;
      }
      this.failing = false;
      return true;
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      if (!this.failing)
        this.ports.log.error(
          { error: describeError(error) },
          "the ledger cannot be followed; reads are answered as it was last known",
        );
      this.failing = true;
      for (const { reject } of group) reject(error);
      return false;
    }
  }

  private takeOver(news: LedgerNews): void {
    if ("state" in news) this.state.reset(news.state);
    else for (const change of news.changes) this.state.apply(change);
    this.committed(news.revision, "state" in news ? null : news.changes);
  }

  private async commit(group: readonly Waiting[]): Promise<void> {
    const { store } = this.ports;
    const decided = this.decideAll(group);
    let newer: number | null = null;
    if (decided.changes.length > 0) {
      try {
        this.inFlight = decided.changes;
        newer = await store.commit(decided.changes, decided.audit);
      } catch (error) {
        return this.takeBack(decided, error);
      }
    } else if (store.shared !== null) {
      // A commit proves that memory was the newest; where nothing is to be committed, a refusal or a repeated answer must be proved too.
      const { revision } = this;
      this.heard = Number.POSITIVE_INFINITY;
      if (!(await this.follow(group))) return;
      if (this.revision !== revision) return this.decideInTurn(group);
    }
    this.answer(decided, newer);
  }

  /**
   * Takes the turn first and decides then, on what the others did before: whoever waits for his turn gathers callers meanwhile, and
   * decides nothing that another's commit undoes.
   */
  private async commitInTurn(shared: SharedLedger): Promise<void> {
    const turn: { decided: Decided | null } = { decided: null };
    let newer: number | null;
    try {
      newer = await shared.inTurn((news) => {
        this.turns = news === null ? this.turns - 1 : TURNS_AFTER_LOSS;
        if (news !== null) this.takeOver(news);
        this.heard = 0;
        this.failing = false;
        const decided = this.decideAll(this.take(GROUP_MAX));
        this.inFlight = decided.changes;
        return (turn.decided = decided);
      });
    } catch (error) {
      if (turn.decided !== null) return this.takeBack(turn.decided, error);
      if (!(error instanceof EnvironmentError)) throw error;
      const group = this.take(GROUP_MAX);
      if (!isBehind(error)) return group.forEach(({ reject }) => reject(error));
      this.heard = Number.POSITIVE_INFINITY; // more than a turn can tell
      if (await this.follow(group)) this.decideInTurn(group);
      return;
    }
    if (turn.decided !== null) this.answer(turn.decided, newer);
  }

  /** They are the first again, and nobody comes between their decisions and their commit. */
  private decideInTurn(group: readonly Waiting[]): void {
    this.turns = TURNS_AFTER_LOSS;
    this.waiting = [...group, ...this.waiting];
  }

  private answer({ answers, changes }: Decided, revision: number | null): void {
    this.inFlight = [];
    if (revision !== null) this.committed(revision, changes);
    const tell = (): void => answers.forEach(({ waiting, result }) => waiting.resolve(result));
    // The next commit first: a server works on it while these are told, which takes longer than to decide.
    if (this.ports.store.shared !== null && this.waiting.length > 0) setImmediate(tell);
    else tell();
  }

  private takeBack(decided: Decided, error: unknown): Promise<void> | void {
    for (const change of [...decided.changes].reverse()) this.state.apply(undoOf(change));
    this.inFlight = [];
    if (this.ports.store.shared !== null) this.heard = Number.POSITIVE_INFINITY; // it may have come through all the same
    if (isBehind(error)) return this.decideInTurn(decided.group);
    return this.fail(decided, error);
  }

  /** What the racks see now. */
  observed(now: number): Observed {
    const { racks, finder = findAmong(racks), plans, kept, wire, wireWindowMs } = this.ports;
    const heard = wire === undefined || wireWindowMs === undefined ? {} : { wire, wireWindowMs };
    const seen = { ...observedBy(finder, now, plans), ...heard };
    if (kept === undefined) return seen;
    return { ...seen, holder: (site, address, nics) => seen.holder(site, address, nics) ?? kept(site, address) };
  }

  private decideAll(group: readonly Waiting[]): Decided {
    const now = this.ports.clock.now();
    this.state.beginTurn();
    const turn: Turn = { state: this.state, observed: this.observed(now), now };
    const answers: Answer[] = [];
    const changes: LedgerChange[] = [];
    const audit: AuditEntry[] = [];
    for (const waiting of group) {
      const { command } = waiting;
      let decision: Result<Decision<unknown>>;
      try {
        decision = decideCommand(command, turn);
      } catch (error) {
        waiting.reject(error);
        continue;
      }
      if (!decision.ok) {
        answers.push({ waiting, result: decision });
        continue;
      }
      const { value, changes: made } = decision.value;
      for (const change of made) this.state.apply(change);
      changes.push(...made);
      if (made.length > 0) {
        const subject = command.subject(value);
        const detail = made.filter(({ table }) => table !== "answer").map(auditDetail);
        if (detail.length > 0) audit.push({ at: now, actor: command.actor, action: command.action, subject, detail });
      }
      answers.push({ waiting, result: { ok: true, value } });
    }
    return { group, answers, changes, audit };
  }

  /** A constraint that the store refused may be one command's fault: the others get another chance, each alone. */
  private async fail({ answers }: Decided, error: unknown): Promise<void> {
    const conflict = error instanceof EnvironmentError && error.code === "store-conflict";
    if (conflict && answers.length > 1) {
      this.ports.log.error(
        { error: describeError(error) },
        "memory and database disagree; the group's commands are tried one by one",
      );
      for (const { waiting } of answers) await this.commit([waiting]);
      return;
    }
    for (const { waiting } of answers) waiting.reject(error);
  }
}

function isBehind(error: unknown): boolean {
  return error instanceof EnvironmentError && error.code === "store-behind";
}

/** Whole records before and after: an audit must be readable when the records are long gone. */
function auditDetail(change: LedgerChange): unknown {
  return { table: change.table, before: change.before, after: change.after };
}
