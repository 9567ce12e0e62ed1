import { formatEventCursor, isoTime, type EventCursor } from "@berth/core";
import { describeError } from "@berth/host";
import type { ServerResponse } from "node:http";
import type { AuditRecord, VipMoveRecord } from "../store/store.js";
import type { ApiPorts } from "./ports.js";
import { viewAudit } from "./routes/audit.js";

const STREAMS_MAX = 64;
/** Of one token, so that no single one shuts the others out. */
const STREAMS_OF_ONE_MAX = 32;
const PAGE = 200;
/** For what does not come with a commit of the ledger: moves of VIPs, the changes of another coordinator. */
const LOOK_MS = 1000;
/** A comment after this silence keeps middle boxes from cutting the connection. */
const SILENCE_LOOKS = 15;
/** A reader that takes nothing for so long, in milliseconds, is sent away: its place is another's, and its events stay in the log. */
const STALL_MS = 30_000;
/** How long a reader shall wait before it comes back, in milliseconds. */
const RETRY_MS = 2000;

type EventPorts = Pick<ApiPorts, "audit" | "vipMoves" | "ledger" | "log" | "clock">;

export interface EventReader {
  readonly response: ServerResponse;
  readonly from: EventCursor;
  /** Name of the token. */
  readonly principal: string;
  /** Asked while the stream lasts; a token may be revoked or end. */
  readonly stillMay: () => boolean;
}

/** All readers of events; each goes its own way through the two logs. */
export class EventStreams {
  private readonly ports: EventPorts;
  private readonly streams = new Set<EventStream>();

  constructor(ports: EventPorts) {
    this.ports = ports;
  }

  /** Whether there is no place for one more reader with this token. */
  isFull(principal: string): boolean {
    const own = [...this.streams].filter((stream) => stream.principal === principal).length;
    return this.streams.size >= STREAMS_MAX || own >= STREAMS_OF_ONE_MAX;
  }

  /** Where a reader begins that wants nothing old. */
  async newest(): Promise<EventCursor> {
    const [entry] = await this.ports.audit.newest({ before: null, actor: null, action: null, limit: 1 });
    const [move] = await this.ports.vipMoves({ address: null, after: null, limit: 1 });
    return { audit: entry?.number ?? 0, move: move?.number ?? 0 };
  }

  /** Owns the response from now on, until either side closes it. */
  open(reader: EventReader): void {
    const stream = new EventStream(this.ports, reader);
    this.streams.add(stream);
    reader.response.on("close", () => {
      stream.stop();
      this.streams.delete(stream);
    });
    stream.start();
  }

  close(): void {
    for (const stream of this.streams) stream.end();
  }
}

class EventStream {
  readonly principal: string;
  private readonly ports: EventPorts;
  private readonly response: ServerResponse;
  private readonly stillMay: () => boolean;
  private cursor: EventCursor;
  /** Since when the reader takes nothing; null while it does. */
  private stalledAt: number | null = null;
  private stopListening: () => void = () => undefined;
  private timer: NodeJS.Timeout | null = null;
  private reading = false;
  private again = false;
  private silentLooks = 0;
  private stopped = false;

  constructor(ports: EventPorts, { from, principal, response, stillMay }: EventReader) {
    this.principal = principal;
    this.ports = ports;
    this.response = response;
    this.stillMay = stillMay;
    this.cursor = from;
  }

  start(): void {
    const head = { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" };
    this.response.writeHead(200, { ...head, connection: "close" });
    this.response.write(`retry: ${RETRY_MS}\n`);
    this.send("ready", this.cursor, {});
    this.stopListening = this.ports.ledger.onChange(() => this.look());
    this.timer = setInterval(() => this.look(), LOOK_MS);
    this.timer.unref();
    this.look();
  }

  /** The reader is gone, or shall go. */
  stop(): void {
    this.stopped = true;
    this.stopListening();
    if (this.timer !== null) clearInterval(this.timer);
  }

  end(): void {
    this.stop();
    this.response.end();
  }

  private look(): void {
    if (!this.stillMay()) return this.end();
    if (this.stalledAt !== null && this.ports.clock.monotonic() - this.stalledAt > STALL_MS) return this.drop();
    this.again = true;
    if (this.reading) return;
    this.reading = true;
    this.read().then(
      () => (this.reading = false),
      (error: unknown) => {
        this.ports.log.warn({ error: describeError(error) }, "a reader of events is sent away; it comes back for what it missed");
        this.end();
      },
    );
  }

  /** What waits to be written would wait for ever. */
  private drop(): void {
    this.stop();
    this.response.destroy();
  }

  private async read(): Promise<void> {
    while (this.again && !this.stopped) {
      this.again = false;
      const sent = (await this.readAudit()) + (await this.readMoves());
      if (sent > 0) this.silentLooks = 0;
      else if (++this.silentLooks >= SILENCE_LOOKS) {
        this.silentLooks = 0;
        this.response.write(": nothing new\n\n");
      }
    }
  }

  private async readAudit(): Promise<number> {
    let sent = 0;
    for (let page: readonly AuditRecord[]; !this.stopped; sent += page.length) {
      page = await this.ports.audit.list(this.cursor.audit, PAGE);
      for (const entry of page) await this.sendNext("change", { ...this.cursor, audit: entry.number }, viewAudit(entry));
      if (page.length === 0) break;
    }
    return sent;
  }

  private async readMoves(): Promise<number> {
    const moves = await this.movesSince(this.cursor.move);
    for (const { number, site, address, from, to, at } of moves)
      await this.sendNext("vip-move", { ...this.cursor, move: number }, { site, address, from, to, at: isoTime(at) });
    return moves.length;
  }

  /** The log of moves is read from its newest end. */
  private async movesSince(last: number): Promise<readonly (VipMoveRecord & { readonly number: number })[]> {
    const found: (VipMoveRecord & { readonly number: number })[] = [];
    for (let after: number | null = null; ; ) {
      const page = await this.ports.vipMoves({ address: null, after, limit: PAGE });
      const fresh = page.filter(({ number }) => number > last);
      found.push(...fresh);
      after = page.at(-1)?.number ?? null;
      if (fresh.length < PAGE || after === null) return found.reverse();
    }
  }

  /** Waits while the reader is slow: its events stay in the log, not in our memory. */
  private async sendNext(event: string, cursor: EventCursor, content: unknown): Promise<void> {
    if (this.stopped) return;
    if (!this.stillMay()) return this.end();
    const taken = this.send(event, cursor, content);
    this.cursor = cursor;
    if (taken) return;
    this.stalledAt = this.ports.clock.monotonic();
    await new Promise<void>((resolve) => {
      const go = (): void => {
        this.stalledAt = null;
        this.response.off("drain", go).off("close", go);
        resolve();
      };
      this.response.on("drain", go).on("close", go);
    });
  }

  private send(event: string, cursor: EventCursor, content: unknown): boolean {
    return this.response.write(`event: ${event}\nid: ${formatEventCursor(cursor)}\ndata: ${JSON.stringify(content)}\n\n`);
  }
}
