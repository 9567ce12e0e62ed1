import { checkSetBack, type Problem } from "@berth/core";
import type { Clock } from "@berth/host";
import type { AuditStore } from "../store/store.js";

/**
 * Finds a clock that was set back, while the coordinator ran or before it started. Answers the problem whenever it is asked; what was asked once
 * has been lived through.
 */
export async function watchSetBack(audit: AuditStore, clock: Clock): Promise<() => Problem | null> {
  const [entry] = await audit.newest({ before: null, actor: null, action: null, limit: 1 });
  let lived = entry?.at ?? 0;
  return () => {
    const now = clock.now();
    lived = Math.max(lived, now);
    return checkSetBack(now, lived);
  };
}
