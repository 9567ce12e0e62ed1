import type { HardwareAddress } from "../address/hardware.js";
import type { LeaseReport } from "../protocol/messages.js";
import type { RackView } from "../topology/rack-view.js";
import type { LeaseView } from "./lease.js";

/** A reported lease lapses by its rack's clock even if the rack has gone silent. `nowMs` is the region's, in milliseconds since 1970. */
export function leaseInUse({ rack, lease }: ReportedLease, nowMs: number): boolean {
  const rackNow = nowMs + (rack.clockAheadMs ?? 0);
  return lease.inUse && (lease.ends === null || lease.ends === "never" || lease.ends * 1000 > rackNow);
}

export interface ReportedLease {
  readonly rack: RackView;
  readonly lease: LeaseReport;
}

/** Milliseconds since 1970 as ISO 8601 UTC. */
export function isoTime(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}

/** What is made together has one time, and an answer says it several times. */
let last = { ms: 0, text: "1970-01-01T00:00:00.000Z" };

export function isoSeconds(seconds: number | null): string | null {
  return seconds === null ? null : isoTime(seconds * 1000);
}

/** One lease for the API. `machineOf` names the machine that has the NIC. */
export function viewLease(
  rack: RackView,
  lease: LeaseReport,
  context: { readonly nowMs: number; readonly machineOf: (nic: HardwareAddress) => string | null },
): LeaseView {
  return {
    address: lease.address,
    state: lease.state,
    inUse: leaseInUse({ rack, lease }, context.nowMs),
    hardwareAddress: lease.hardwareAddress,
    name: lease.dnsLabel,
    starts: isoSeconds(lease.starts),
    ends: lease.ends === "never" ? "never" : isoSeconds(lease.ends),
    rack: rack.name,
    stale: !rack.connected,
    machine: lease.hardwareAddress === null ? null : context.machineOf(lease.hardwareAddress),
  };
}

/** Every reported lease with its rack, in the racks' order. */
export function* reportedLeases(racks: readonly RackView[]): Generator<ReportedLease> {
  for (const rack of racks) for (const lease of rack.leases.values()) yield { rack, lease };
}
