import type { IpAddress } from "../address/ip.js";
import { rangeContains, type IpRange } from "../address/prefix.js";
import type { LedgerChange } from "./change.js";
import { quarantineKey, type LedgerState } from "./ledger-state.js";
import type { Quarantine, Subnet } from "./model.js";
import { leaseBlocksUntil } from "./observed.js";
import { releaseUntil } from "./rest-time.js";
import type { RackView } from "../topology/rack-view.js";

/** Addresses that leave a subnet's dynamic window, and what the racks see there. */
export interface LeavingWindow {
  readonly subnet: Subnet;
  /** Is this address of the old window none of the new one? */
  readonly leaves: (address: IpAddress) => boolean;
  readonly racks: readonly RackView[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Lets addresses rest that leave a dynamic window while somebody leases them. dhcpd drops such a lease from its file at its next start, so no rack can tell
 * of it any more, and answers its holder no longer, who keeps the address until the lease ends: nobody else is given it before that, and no pool has it.
 */
export function restLeased(state: LedgerState, { leaves, now, racks, subnet }: LeavingWindow): LedgerChange[] {
  const { window } = subnet;
  if (subnet.mode !== "window" || window === null) return [];
  const leaving = (address: IpAddress): boolean => rangeContains(window, address) && leaves(address);
  const rests = new Map<IpAddress, Quarantine>();
  for (const rack of racks) {
    if (rack.site !== subnet.site) continue;
    for (const [address, lease] of rack.leases) {
      const until = leaseBlocksUntil(lease, rack);
      if ((until !== null && until <= now) || !leaving(address)) continue;
      const nics = lease.hardwareAddress === null || lease.state === "abandoned" ? [] : [lease.hardwareAddress];
      // It may be renewed until its rack has taken the change over.
      const rest = { subnetId: subnet.id, site: subnet.site, address, releasedAt: now, until: releaseUntil(subnet, now), nics };
      rests.set(address, { ...rest, until: Math.max(rest.until, until ?? 0, rests.get(address)?.until ?? 0) });
    }
  }
  return [...rests.values()].map((after): LedgerChange => {
    const before = state.quarantines.get(quarantineKey(after)) ?? null;
    return { table: "quarantine", before, after: { ...after, until: Math.max(after.until, before?.until ?? 0) } };
  });
}

/** Whether a range has the address; with none, it has not. */
export function isIn(range: IpRange | null, address: IpAddress): boolean {
  return range !== null && rangeContains(range, address);
}
