import type { LedgerChange } from "@berth/core";
import { EnvironmentError, type Clock, type Log } from "@berth/host";
import { CompiledQuery, sql, type Kysely, type Selectable, type Transaction } from "kysely";
import { randomUUID } from "node:crypto";
import { auditRow } from "../sqlite-audit.js";
import type { AuditEntry, LedgerNews, LedgerStore, LoadedLedger, SharedLedger } from "../store.js";
import type { Tables } from "../tables.js";
import { insertCommit, type CommitContent, type InsertCommit } from "./insert-commit.js";
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
 * A range with both ends, although the numbers have no gaps: of one with a single end the server takes a third of the table to be asked for, and its one plan
 * for this text would read all of the table behind every commit.
 */
const LATER_CHANGES = `select * from ledger_change where revision > $1 and revision <= $1 + ${NEWS_MAX} order by revision`;

/**
 * The ledger that several coordinators share. One row holds the revision and the id of the commit that made it; each commit takes that row
 * once and only from where its own memory stands, so that commits form one chain, and no decision rests on a state that is no more.
 */
export class PostgresLedger implements LedgerStore, SharedLedger {
  readonly shared: SharedLedger = this;
  readonly #database: PostgresDatabase;
  readonly #ports: { readonly clock: Clock; readonly log: Log };
  #position: Position;
  /** What was read behind a commit that came too late; good for the position it was read for, which it still is. */
  #later: readonly Selectable<Tables["ledger_change"]>[] | null = null;

  private constructor(database: PostgresDatabase, ports: { readonly clock: Clock; readonly log: Log }, position: Position) {
    this.#database = database;
    this.#ports = ports;
    this.#position = position;
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
    this.#later = null;
    const { position, loaded } = await this.#database.snapshot(async (transaction) => {
      const { sink, loaded } = begin();
      return { position: await readLedger(transaction, sink), loaded };
    });
    this.#position = position;
    return loaded(position);
  }

  async commit(changes: readonly LedgerChange[], audit: readonly AuditEntry[]): Promise<number> {
    const next = { revision: this.#position.revision + 1, head: randomUUID() };
    const content = { changes, audit };
    const insert = insertCommit({ from: this.#position, next, channel: LEDGER_CHANNEL }, content);
    if (insert === null || next.revision % TRIM_EVERY === 0)
      await this.#database.write((transaction) => this.#write(transaction, next, content));
    else await this.#insertOnce(insert, next);
    this.#position = next;
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

  watch(listener: (revision: number) => void, signal: AbortSignal): Promise<void> {
    return watchLedger({ ...this.#ports, target: this.#database.target }, listener, signal);
  }

  /**
   * The question for the news goes out behind the commit, without waiting for it: where another coordinator was first, which is the usual case among several,
   * what it did is known with the same answer.
   */
  async #insertOnce(insert: InsertCommit, next: Position): Promise<void> {
    let tries = 0;
    await this.#database.attempt("write", async () => {
      tries += 1;
      const { query } = this.#database;
      const [{ rows }, later] = await query
        .connection()
        .execute((one) => Promise.all([one.executeQuery(insert), one.executeQuery(laterChanges(this.#position))]));
      if (rows[0]?.taken === 1) return;
      if (tries > 1) return this.#checkMine(query, next);
      this.#later = later.rows;
      throw this.#behind();
    });
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

  async #write(transaction: Transaction<Tables>, next: Position, { changes, audit }: CommitContent): Promise<void> {
    const { revision, head } = this.#position;
    const taken = await transaction
      .updateTable("ledger")
      .set(next)
      .where("revision", "=", revision)
      .where("head", "=", head)
      .executeTakeFirst();
    if (taken.numUpdatedRows === 0n) return this.#checkMine(transaction, next);
    await new PostgresLedgerWriter(transaction).write(changes);
    await insertRows(transaction, "audit", audit.map(auditRow));
    const entry = { revision: next.revision, commit_id: next.head, parent: head, changes: JSON.stringify(changes) };
    await transaction
      .insertInto("ledger_change")
      .values(entry)
      .returning(sql`pg_notify(${LEDGER_CHANNEL}, ${String(next.revision)})`.as("told"))
      .execute();
    if (next.revision % TRIM_EVERY === 0)
      await transaction
        .deleteFrom("ledger_change")
        .where("revision", "<=", next.revision - CHANGES_KEPT)
        .execute();
  }

  /** The commits that follow on that position; null when their chain does not start there. */
  async #newsFrom({ revision, head }: Position): Promise<LedgerNews | null> {
    const later =
      this.#later ?? (await this.#database.read((query) => query.executeQuery(laterChanges({ revision, head })))).rows;
    this.#later = null;
    const changes: LedgerChange[] = [];
    let last: Position = { revision, head };
    for (const row of later) {
      if (row.revision !== last.revision + 1 || row.parent !== last.head) return null;
      for (const change of JSON.parse(row.changes) as LedgerChange[]) changes.push(change);
      last = { revision: row.revision, head: row.commit_id };
    }
    if (last.head === head) return null;
    this.#position = last;
    return { revision: last.revision, changes, isAll: later.length < NEWS_MAX };
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

/** As text, because it goes out behind every commit: building it each time takes longer than to send it. */
function laterChanges({ revision }: Position): CompiledQuery<Selectable<Tables["ledger_change"]>> {
  return CompiledQuery.raw(LATER_CHANGES, [revision]);
}
