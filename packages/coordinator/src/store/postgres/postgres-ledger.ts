import type { LedgerChange } from "@berth/core";
import { EnvironmentError, type Clock, type Log } from "@berth/host";
import { CompiledQuery, sql, type Kysely, type Selectable } from "kysely";
import { randomUUID } from "node:crypto";
import { auditRow } from "../sqlite-audit.js";
import type { AuditEntry, CommitContent, LedgerNews, LedgerStore, LoadedLedger, SharedLedger } from "../store.js";
import type { Tables } from "../tables.js";
import { CommitTeller } from "./commit-teller.js";
import { insertCommit, type InsertCommit } from "./insert-commit.js";
import { insertRows } from "./insert-rows.js";
import { LEDGER_CHANNEL, watchLedger } from "./ledger-watch.js";
import { contentSink, stateSink, type LedgerSink } from "../ledger-sink.js";
import { readLedger, type Position } from "./load-ledger.js";
import { PostgresLedgerWriter } from "./postgres-ledger-writer.js";
import type { PostgresDatabase } from "./postgres-database.js";

/** Commits that others can still follow; who missed more loads everything. */
const CHANGES_KEPT = 4096;
const TRIM_EVERY = 64;
const NEWS_MAX = 256;
/**
 * A range with both ends, although the numbers have no gaps: of one with a single end the server takes a third of the table to
 * be asked for, and its one plan for this text would read all of the table behind every commit.
 */
const LATER_CHANGES = `select * from ledger_change where revision > $1 and revision <= $1 + ${NEWS_MAX} order by revision`;

/** The second try of a commit: what the first one did is not known. */
const AGAIN = 2;
const BEGIN = CompiledQuery.raw("begin");
const COMMIT = CompiledQuery.raw("commit");
const ROLLBACK = CompiledQuery.raw("rollback");
/**
 * Shorter than others wait for a lock: a coordinator that is mute in its turn, and not so dead that its connection broke, loses
 * it before they give up.
 */
const TURN_MS = 2000;
/** How a turn is taken. The row stays taken until the end of the transaction. Its parameters make the server keep the plan. */
export const TAKE_TURN: CompiledQuery<Position> = CompiledQuery.raw(
  "select revision, head, set_config('idle_in_transaction_session_timeout', $1, true) from ledger where id = $2 for update",
  [String(TURN_MS), 1],
);

interface Commit {
  readonly next: Position;
  readonly content: CommitContent;
  /** Whether it tells the others of itself. */
  readonly tells: boolean;
}

/**
 * The ledger that several coordinators share. One row holds the revision and the id of the commit that made it; each commit
 * takes that row once and only from where its own memory stands, so that commits form one chain, and no decision rests on a
 * state that is no more.
 */
export class PostgresLedger implements LedgerStore, SharedLedger {
  readonly shared: SharedLedger = this;
  readonly #database: PostgresDatabase;
  readonly #ports: { readonly clock: Clock; readonly log: Log };
  readonly #teller: CommitTeller;
  #position: Position;

  private constructor(database: PostgresDatabase, ports: { readonly clock: Clock; readonly log: Log }, position: Position) {
    this.#database = database;
    this.#ports = ports;
    this.#position = position;
    this.#teller = new CommitTeller(ports.clock, async (revision) => {
      await database.query.executeQuery(CompiledQuery.raw("select pg_notify($1, $2)", [LEDGER_CHANNEL, String(revision)]));
    });
  }

  static async open(database: PostgresDatabase, ports: { readonly clock: Clock; readonly log: Log }): Promise<PostgresLedger> {
    const position = await database.read((query) =>
      query.selectFrom("ledger").select(["revision", "head"]).executeTakeFirstOrThrow(),
    );
    return new PostgresLedger(database, ports, position);
  }

  load(): ReturnType<LedgerStore["load"]> {
    return this.#read(() => {
      const { content, sink } = contentSink();
      return { sink, loaded: ({ revision }) => ({ revision, content: content() }) };
    });
  }

  loadState(): Promise<LoadedLedger> {
    return this.#read(() => {
      const { sink, state } = stateSink();
      return { sink, loaded: ({ revision }) => ({ revision, state }) };
    });
  }

  /** Begins anew, with nothing of what it had, when the connection breaks over it. */
  async #read<T>(begin: () => { readonly sink: LedgerSink; readonly loaded: (position: Position) => T }): Promise<T> {
    const { position, loaded } = await this.#database.snapshot(async (transaction) => {
      const { sink, loaded } = begin();
      return { position: await readLedger(transaction, sink), loaded };
    });
    this.#position = position;
    return loaded(position);
  }

  async commit(changes: readonly LedgerChange[], audit: readonly AuditEntry[]): Promise<number> {
    const commit = this.#next({ changes, audit });
    let tries = 0;
    await this.#database.attempt("write", () => this.#tryOnce(commit, (tries += 1)));
    return this.#made(commit);
  }

  /** Two answers to wait for: the turn with the news, then the commit. A turn lasts as long as its connection. */
  async inTurn(decide: (news: LedgerNews | null) => CommitContent): Promise<number | null> {
    const turn: { commit: Commit | null } = { commit: null };
    const commit = await this.#database.attempt("write", async () => {
      if (turn.commit === null) return this.#inTurnOnce((news) => (turn.commit = this.#next(decide(news))));
      // The connection broke over the commit: it may have come through, and if it did not, the turn is over.
      if (turn.commit.content.changes.length > 0) await this.#tryOnce(turn.commit, AGAIN);
      return turn.commit;
    });
    if (commit.content.changes.length === 0) return null;
    return this.#made(commit);
  }

  #next(content: CommitContent): Commit {
    const next = { revision: this.#position.revision + 1, head: randomUUID() };
    return { next, content, tells: this.#teller.isDue() };
  }

  #made({ next, tells }: Commit): number {
    this.#position = next;
    this.#teller.committed(next.revision, tells);
    return next.revision;
  }

  async news(): Promise<LedgerNews | null> {
    const { revision, head } = this.#position;
    const early = await this.#newsFrom(this.#position);
    if (early !== null) return early;
    const now = await this.#database.read((query) =>
      query.selectFrom("ledger").select(["revision", "head"]).executeTakeFirstOrThrow(),
    );
    if (now.revision === revision && now.head === head) return null;
    return (await this.#newsFrom(this.#position)) ?? this.#everything(now);
  }

  /** Before its database is closed. */
  end(): void {
    this.#teller.end();
  }

  watch(listener: (revision: number) => void, signal: AbortSignal): Promise<void> {
    return watchLedger({ ...this.#ports, target: this.#database.target }, listener, signal);
  }

  /** `tries` counts this one. */
  async #tryOnce(commit: Commit, tries: number): Promise<void> {
    const { query } = this.#database;
    const insert = this.#insert(commit);
    if (insert === null) return query.transaction().execute((transaction) => this.#write(transaction, commit));
    const { rows } = await query.executeQuery(insert);
    if (rows[0]?.taken === 1) return;
    if (tries < AGAIN) throw this.#behind();
    return this.#checkMine(query, commit.next);
  }

  /** As one statement, where it can be. */
  #insert({ next, content, tells }: Commit): InsertCommit | null {
    if (next.revision % TRIM_EVERY === 0) return null;
    return insertCommit({ from: this.#position, next, channel: tells ? LEDGER_CHANNEL : null }, content);
  }

  #inTurnOnce(decide: (news: LedgerNews | null) => Commit): Promise<Commit> {
    return this.#database.query.connection().execute(async (one) => {
      try {
        const commit = decide(await this.#takeTurn(one));
        if (commit.content.changes.length === 0) {
          await one.executeQuery(ROLLBACK);
          return commit;
        }
        const insert = this.#insert(commit);
        if (insert === null) await this.#write(one, commit);
        else if (!(await inOneGo(one, insert, COMMIT))) throw this.#behind();
        if (insert === null) await one.executeQuery(COMMIT);
        return commit;
      } catch (error) {
        await one.executeQuery(ROLLBACK); // rejects in no case, see PostgresConnection
        throw error;
      }
    });
  }

  /** Takes the ledger's row for this transaction, once nobody else has it, and what was committed up to then. */
  async #takeTurn(one: Kysely<Tables>): Promise<LedgerNews | null> {
    const [, held, later] = await allSent([
      one.executeQuery(BEGIN),
      one.executeQuery(TAKE_TURN),
      one.executeQuery(laterChanges(this.#position)),
    ]);
    const news = newsOf(this.#position, later.rows);
    const [now] = held.rows;
    const { revision, head } = news?.position ?? this.#position;
    if (now?.revision !== revision || now.head !== head) throw this.#behind();
    this.#position = { revision, head };
    return news === null ? null : { revision, changes: news.changes, isAll: true };
  }

  /** The row was not where this commit begins. */
  async #checkMine(query: Kysely<Tables>, next: Position): Promise<void> {
    const mine = query.selectFrom("ledger_change").select("revision").where("commit_id", "=", next.head);
    if ((await mine.executeTakeFirst()) !== undefined) return; // the try before this one came through, only its answer was lost
    throw this.#behind();
  }

  #behind(): EnvironmentError {
    return new EnvironmentError("store-behind", this.#database.target.shown, "another coordinator was first");
  }

  async #write(transaction: Kysely<Tables>, { next, tells, content: { changes, audit } }: Commit): Promise<void> {
    const { revision, head } = this.#position;
    const taken = await transaction
      .updateTable("ledger")
      .set(next)
      .where("id", "=", 1)
      .where("revision", "=", revision)
      .where("head", "=", head)
      .executeTakeFirst();
    if (taken.numUpdatedRows === 0n) return this.#checkMine(transaction, next);
    await new PostgresLedgerWriter(transaction).write(changes);
    await insertRows(transaction, "audit", audit.map(auditRow));
    const entry = { revision: next.revision, commit_id: next.head, parent: head, changes: JSON.stringify(changes) };
    await transaction.insertInto("ledger_change").values(entry).execute();
    if (tells) await sql`select pg_notify(${LEDGER_CHANNEL}, ${String(next.revision)})`.execute(transaction);
    if (next.revision % TRIM_EVERY === 0)
      await transaction
        .deleteFrom("ledger_change")
        .where("revision", "<=", next.revision - CHANGES_KEPT)
        .execute();
  }

  /** The commits that follow on that position; null when their chain does not start there. */
  async #newsFrom({ revision, head }: Position): Promise<LedgerNews | null> {
    const { rows } = await this.#database.read((query) => query.executeQuery(laterChanges({ revision, head })));
    const news = newsOf({ revision, head }, rows);
    if (news === null) return null;
    this.#position = news.position;
    return { revision: news.position.revision, changes: news.changes, isAll: rows.length < NEWS_MAX };
  }

  async #everything(now: Position): Promise<LedgerNews> {
    const { revision } = this.#position;
    if (now.revision <= revision)
      this.#ports.log.error(
        { known: revision, revision: now.revision, database: this.#database.target.shown },
        "the database went back: commits that were answered are lost there; the ledger is taken as it is now",
      );
    return this.loadState();
  }
}

interface News {
  readonly position: Position;
  readonly changes: readonly LedgerChange[];
}

/** Null where there are none, or their chain does not start at that position. */
function newsOf(from: Position, later: readonly Selectable<Tables["ledger_change"]>[]): News | null {
  const changes: LedgerChange[] = [];
  let position = from;
  for (const row of later) {
    if (row.revision !== position.revision + 1 || row.parent !== position.head) return null;
    for (const change of JSON.parse(row.changes) as LedgerChange[]) changes.push(change);
    position = { revision: row.revision, head: row.commit_id };
  }
  return later.length === 0 ? null : { position, changes };
}

/** As text, because building it each time takes longer than to send it. */
function laterChanges({ revision }: Position): CompiledQuery<Selectable<Tables["ledger_change"]>> {
  return CompiledQuery.raw(LATER_CHANGES, [revision]);
}

/** Sends one behind the other without waiting; answers whether the ledger's row was taken. */
async function inOneGo(one: Kysely<Tables>, insert: InsertCommit, commit: CompiledQuery): Promise<boolean> {
  const [{ rows }] = await allSent([one.executeQuery(insert), one.executeQuery(commit)]);
  return rows[0]?.taken === 1;
}

/**
 * Waits for all of them also when one fails, so that nothing is on the way when its error is told: the first one's, of which
 * the others fail.
 */
async function allSent<T extends readonly Promise<unknown>[]>(sent: readonly [...T]): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(sent);
  return await Promise.all(sent);
}
