import { setMaxListeners } from "node:events";
import type { Problem } from "@berth/core";
import { createBell, describeError, EnvironmentError, type Log } from "@berth/host";
import { NoticeSource, type NoticeSourcePorts } from "./notice-source.js";
import { Webhook, type WebhookTarget } from "./webhook.js";

export interface NoticesPorts extends NoticeSourcePorts {
  readonly log: Log;
  readonly webhooks: readonly WebhookTarget[];
  /** Writes every notice to the log, too. */
  readonly toLog: boolean;
  /** 0 up to 1; for the pauses between attempts. */
  readonly random?: () => number;
}

/** Tells webhooks and the log what happens in the region. */
export interface Notices {
  /** Something may have happened. */
  nudge(): void;
  /** Webhooks that do not take what they are sent. */
  problems(): readonly Problem[];
  run(signal: AbortSignal): Promise<void>;
}

const PERIOD_MS = 2000;
/** Between two looks, however much happens: each compares all problems and racks. */
const PAUSE_MS = 200;

/** Null when nobody wants to be told. */
export function createNotices(ports: NoticesPorts): Notices | null {
  return ports.webhooks.length === 0 && !ports.toLog ? null : new RunningNotices(ports);
}

class RunningNotices implements Notices {
  readonly #ports: NoticesPorts;
  readonly #webhooks: readonly Webhook[];
  readonly #bell;
  #source: NoticeSource | null = null;
  #lastAudit = 0;
  #unreadable = false;

  constructor(ports: NoticesPorts) {
    const { clock, log, random = Math.random, webhooks } = ports;
    this.#ports = ports;
    this.#bell = createBell(clock);
    this.#webhooks = webhooks.map((target) => new Webhook(target, { clock, log, random, delivered: () => this.#writeDown() }));
  }

  nudge(): void {
    this.#bell.ring();
  }

  problems(): readonly Problem[] {
    return this.#webhooks.flatMap((webhook) => webhook.problems());
  }

  async run(signal: AbortSignal): Promise<void> {
    setMaxListeners(0, signal); // each webhook listens to it; Node would take more than ten for a leak and write that into the log
    await Promise.all([this.#collect(signal), ...this.#webhooks.map((webhook) => webhook.run(signal))]);
  }

  async #collect(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await this.#pass();
        await this.#ports.clock.sleep(PAUSE_MS, signal);
        await this.#bell.wait(PERIOD_MS, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error; // an aborted wait is what was asked for
    }
  }

  /** A database that is away is no reason to end: what it holds is found later. */
  async #pass(): Promise<void> {
    const { log, toLog } = this.#ports;
    try {
      this.#source ??= await NoticeSource.open(this.#ports);
      for (;;) {
        const found = await this.#source.next();
        if (found.length === 0) break;
        this.#lastAudit = Math.max(this.#lastAudit, ...found.map(({ auditNumber }) => auditNumber));
        if (toLog) for (const { notice } of found) log.info({ notice }, `notice: ${notice.type} ${notice.subject}`);
        for (const webhook of this.#webhooks) webhook.add(found);
        if (this.#webhooks.length === 0) await this.#writeDown();
      }
      this.#unreadable = false;
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      if (!this.#unreadable) log.warn({ error: describeError(error) }, "notices cannot be read from the store");
      this.#unreadable = true;
    }
  }

  /** Up to before the first that any webhook still waits for. A failed write costs a repetition after a restart, no notice. */
  async #writeDown(): Promise<void> {
    const waiting = this.#webhooks.flatMap(({ spool }) => spool.firstAuditNumber() ?? []);
    const told = waiting.length === 0 ? this.#lastAudit : Math.min(...waiting) - 1;
    if (this.#source === null || told <= 0) return;
    try {
      await this.#source.told(told);
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      this.#ports.log.warn({ error: describeError(error) }, "the place up to which notices were told cannot be written");
    }
  }
}
