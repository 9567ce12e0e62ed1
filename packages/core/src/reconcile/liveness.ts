/**
 * Whether a daemon that runs still answers. Only silence after an answer counts: where no question ever was answered (a packet filter on the rack's
 * own traffic), silence says nothing about the daemon.
 */
export interface Liveness {
  /** Questions in a row without an answer. */
  readonly silent: number;
  /** Monotonic milliseconds of the last question; null before the first. */
  readonly askedAt: number | null;
}

export const NOT_ASKED: Liveness = { silent: 0, askedAt: null };

/** A daemon that answers is asked again after this long, one that was silent sooner. */
export const ASK_INTERVAL_MS = 10_000;
const ASK_AGAIN_MS = 1_000;
/** So many questions in a row without an answer, and a daemon that lives is taken for hung. */
export const SILENT_MAX = 3;

/** Milliseconds until it is to be asked again; 0 for now. */
export function nextQuestionMs(liveness: Liveness, now: number): number {
  if (liveness.askedAt === null) return 0;
  return Math.max(0, liveness.askedAt + (liveness.silent > 0 ? ASK_AGAIN_MS : ASK_INTERVAL_MS) - now);
}

export function noteAnswer(liveness: Liveness, answered: boolean, now: number): Liveness {
  return { silent: answered ? 0 : liveness.silent + 1, askedAt: now };
}

export function isHung(liveness: Liveness): boolean {
  return liveness.silent >= SILENT_MAX;
}
