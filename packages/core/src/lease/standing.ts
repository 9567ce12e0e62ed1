import type { BindingState, Lease } from "./model.js";

/** The binding state as of `now` (ms): what is written, else what the times say (files of old servers write no state). */
export function stateAt(lease: Lease, now: number): BindingState | "unknown" {
  if (lease.bindingState !== null) return lease.bindingState;
  return lease.ends === "never" || (lease.ends !== null && lease.ends * 1000 > now) ? "active" : "free";
}

/** Active, and not past its end: an active lease without a readable end counts as in use. */
export function inUseAt(lease: Lease, now: number): boolean {
  if (stateAt(lease, now) !== "active") return false;
  return lease.ends === "never" || lease.ends === null || lease.ends * 1000 > now;
}

/**
 * Whether somebody else may be given the address. Not while it is in use, found in use by a stranger (abandoned), kept for its client (reserved), the
 * partner's (backup) or unreadable; and where a failover peer is declared, not until both agree that it is free: the partner may hold
 * what this side calls expired, released, reset, or active past its end.
 */
export function allocatableAt(lease: Lease, now: number): boolean {
  const state = stateAt(lease, now);
  if (inUseAt(lease, now) || state === "abandoned" || state === "backup" || state === "unknown") return false;
  if (lease.family === 6) return true;
  return !lease.reserved && !(lease.partnered && state !== "free");
}
