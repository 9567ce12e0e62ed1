import { randomUUID } from "node:crypto";
import { BERTH_VERSION, isoTime, type Problem } from "@berth/core";
import { createBell, describeError, type Clock, type Log } from "@berth/host";
import type { SourcedNotice } from "./notice-source.js";
import { NoticeSpool } from "./notice-spool.js";
import { DELIVERY_HEADER, SIGNATURE_HEADER, signDelivery, TIMESTAMP_HEADER } from "./sign-delivery.js";

export interface WebhookTarget {
  readonly url: string;
  readonly secret: string;
}

export interface WebhookPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** Called after each delivery, so that what was told can be written down. */
  readonly delivered: () => Promise<void>;
  /** 0 up to 1; for the pauses between attempts. */
  readonly random: () => number;
}

/** Notices that wait for a receiver that is away. */
export const SPOOL_MAX = 10_000;
const BATCH_MAX = 100;
const ATTEMPT_MS = 10_000;
const PAUSE_MS_FIRST = 1000;
const PAUSE_MS_MAX = 300_000;
/** Attempts before it is a problem; a receiver may restart. */
const FAILURES_QUIET = 3;
const IDLE_MS = 3_600_000;

/** Delivers notices to one receiver in their order, each at least once, for as long as it takes. */
export class Webhook {
  readonly spool = new NoticeSpool(SPOOL_MAX);
  readonly #target: WebhookTarget;
  readonly #ports: WebhookPorts;
  readonly #bell;
  #failures = 0;
  #reason = "";

  constructor(target: WebhookTarget, ports: WebhookPorts) {
    this.#target = target;
    this.#ports = ports;
    this.#bell = createBell(ports.clock);
  }

  add(notices: readonly SourcedNotice[]): void {
    if (notices.length === 0) return;
    this.spool.add(notices);
    this.#bell.ring();
  }

  problems(): readonly Problem[] {
    if (this.#failures < FAILURES_QUIET) return [];
    const message = `${this.spool.size} notices wait for the webhook, which did not take them ${this.#failures} times: ${this.#reason}`;
    const remedy = "check that the receiver runs and answers with a status from 200 to 299";
    return [{ code: "webhook-failing", at: this.#target.url, message, remedy }];
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        if (this.spool.size === 0) await this.#bell.wait(IDLE_MS, signal);
        else await this.#deliver(signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error; // an aborted wait is what was asked for
    }
  }

  /** One batch, again and again until it is taken. A retry is the same delivery, signed anew because of its time. */
  async #deliver(signal: AbortSignal): Promise<void> {
    const { clock, delivered } = this.#ports;
    const batch = this.spool.head(BATCH_MAX);
    const { dropped } = this.spool;
    const delivery = randomUUID();
    const notices = batch.map(({ notice }) => notice);
    const body = JSON.stringify({ delivery, sentAt: isoTime(clock.now()), dropped, notices });
    while (!(await this.#attempt(delivery, body, signal))) await clock.sleep(this.#pauseMs(), signal);
    this.spool.taken(batch, dropped);
    await delivered();
  }

  async #attempt(delivery: string, body: string, signal: AbortSignal): Promise<boolean> {
    const { log } = this.#ports;
    const reason = await this.#send(delivery, body, signal);
    if (reason === null) {
      if (this.#failures > 0) log.info({ url: this.#target.url, failures: this.#failures }, "the webhook takes notices again");
      this.#failures = 0;
      return true;
    }
    if (this.#failures === 0) log.warn({ url: this.#target.url, reason }, "the webhook did not take notices; they wait");
    this.#failures += 1;
    this.#reason = reason;
    return false;
  }

  /** Null when it was taken, else why not. */
  async #send(delivery: string, body: string, signal: AbortSignal): Promise<string | null> {
    const { secret, url } = this.#target;
    const timestamp = Math.floor(this.#ports.clock.now() / 1000);
    const headers = {
      "content-type": "application/json",
      "user-agent": `berth-coordinator/${BERTH_VERSION}`,
      [DELIVERY_HEADER]: delivery,
      [TIMESTAMP_HEADER]: String(timestamp),
      [SIGNATURE_HEADER]: signDelivery(secret, timestamp, body),
    };
    const either = AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]);
    try {
      const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: either });
      await response.body?.cancel();
      return response.ok ? null : `it answered ${response.status}`;
    } catch (error) {
      signal.throwIfAborted();
      return describeError(error);
    }
  }

  /** Doubles up to the maximum; between half of it and all of it, so that several do not come back together. */
  #pauseMs(): number {
    const whole = Math.min(PAUSE_MS_MAX, PAUSE_MS_FIRST * 2 ** Math.min(this.#failures - 1, 16));
    return whole / 2 + (whole / 2) * this.#ports.random();
  }
}
