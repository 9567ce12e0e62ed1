import type { Activation, DaemonStatus } from "@berth/core";
import type { Bell, Clock } from "@berth/host";

/** Makes one daemon match the newest desired state, one pass at a time. */
export interface Reconciler {
  /** One pass: reads the newest state, acts, records. Answers how many milliseconds later it wants to look again at the latest. */
  pass(): Promise<number>;
  status(): DaemonStatus;
  /** What was tried so far, oldest first. */
  activations(): readonly Activation[];
}

/** With nothing to do, the world is still looked at this often: a daemon may have died. */
export const IDLE_MS = 2_000;

/** Runs passes until aborted: at every ring of the bell, and when the last pass asked for it. */
export async function runReconciler(
  reconciler: Reconciler,
  ports: { readonly bell: Bell; readonly clock: Clock; readonly onPass: () => void },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const nextMs = await reconciler.pass();
    ports.onPass();
    await ports.bell.wait(nextMs, signal).catch((reason: unknown) => {
      if (!signal.aborted) throw reason;
    });
  }
}
