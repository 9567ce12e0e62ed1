import { describeError, type Clock, type Log } from "@berth/host";
import type { DatabaseTarget } from "./database-url.js";
import { findWritable } from "./find-writable.js";

/** Where a commit of the ledger tells the other coordinators of it. */
export const LEDGER_CHANNEL = "berth_ledger";

/** A notification may be lost with its connection, so this often somebody looks in any case. */
const POLL_MS = 500;
const RETRY_MS = 1000;

export interface WatchPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly target: DatabaseTarget;
}

/** Calls the listener after every commit that is heard of, and every half second besides, until aborted. */
export async function watchLedger(ports: WatchPorts, listener: (revision: number) => void, signal: AbortSignal): Promise<void> {
  await Promise.all([poll(ports.clock, listener, signal), listen(ports, listener, signal)]);
}

async function poll(clock: Clock, listener: (revision: number) => void, signal: AbortSignal): Promise<void> {
  while (await slept(clock, POLL_MS, signal)) listener(Number.POSITIVE_INFINITY);
}

async function listen(ports: WatchPorts, listener: (revision: number) => void, signal: AbortSignal): Promise<void> {
  let failing = false;
  while (!signal.aborted) {
    try {
      await listenOnce(ports, listener, signal);
      failing = false;
    } catch (error) {
      if (!failing && !signal.aborted)
        ports.log.warn({ error: describeError(error) }, "commits of other coordinators are not told; looked for twice a second");
      failing = true;
    }
    await slept(ports.clock, RETRY_MS, signal);
  }
}

/** Listens until the connection breaks. */
async function listenOnce(
  { target, clock }: WatchPorts,
  listener: (revision: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const connection = await findWritable(target, clock, signal);
  const ended = new AbortController();
  connection.onLost(() => ended.abort());
  const end = (): void => connection.drop();
  signal.addEventListener("abort", end, { once: true });
  try {
    const any = (): void => listener(Number.POSITIVE_INFINITY);
    await connection.sql.listen(LEDGER_CHANNEL, (revision) => listener(Number(revision)), any);
    if (signal.aborted || connection.lost) return;
    await new Promise<void>((resolve) => ended.signal.addEventListener("abort", () => resolve(), { once: true }));
  } finally {
    signal.removeEventListener("abort", end);
    await connection.close();
  }
}

/** False when it was aborted. */
async function slept(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  await clock.sleep(ms, signal).catch(() => undefined); // only an abort rejects it
  return !signal.aborted;
}
