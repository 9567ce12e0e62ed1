import { describeError, EnvironmentError, type Clock, type Log } from "@berth/host";

const PERIOD_MS = 2000;
/** Reading takes at most a twentieth of the time, however much there is. */
const REST_PER_READ = 20;

/** What is taken anew from the store. */
export interface Followed {
  reload(): Promise<void>;
}

/** Reads again and again, until aborted, what another coordinator writes down of the racks. */
export async function followRacks(
  followed: readonly Followed[],
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  let failing = false;
  for (let restMs = PERIOD_MS; ; ) {
    await clock.sleep(restMs, signal).catch(() => undefined); // aborted: it ends here
    if (signal.aborted) return;
    const began = clock.monotonic();
    try {
      for (const one of followed) await one.reload();
      failing = false;
    } catch (error) {
      if (!(error instanceof EnvironmentError)) throw error;
      if (!failing) log.warn({ error: describeError(error) }, "what racks report is not read; it is taken as last known");
      failing = true;
    }
    restMs = Math.max(PERIOD_MS, (clock.monotonic() - began) * REST_PER_READ);
  }
}
