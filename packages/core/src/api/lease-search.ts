import type { HardwareAddress } from "../address/hardware.js";
import type { LeaseReport } from "../protocol/messages.js";
import type { RackView } from "../topology/rack-view.js";
import type { LeaseQuery, LeaseView } from "./lease.js";
import { leaseInUse, reportedLeases, viewLease } from "./lease-view.js";
import { pageOf, type Page } from "./page.js";
import { addressSortKey } from "./sort-key.js";

/** One page of the leases that match every given filter, by address, then rack. */
export function searchLeases(
  racks: readonly RackView[],
  query: LeaseQuery,
  context: { readonly nowMs: number; readonly machineOf: (nic: HardwareAddress) => string | null },
): Page<LeaseView> {
  const matches = leaseMatcher(query, context.nowMs);
  const found: { readonly rack: RackView; readonly lease: LeaseReport }[] = [];
  for (const entry of reportedLeases(racks)) if (matches(entry.rack, entry.lease)) found.push(entry);
  const page = pageOf(found, ({ rack, lease }) => `${addressSortKey(lease.address)} ${rack.id}`, query);
  return { items: page.items.map(({ rack, lease }) => viewLease(rack, lease, context)), next: page.next };
}

function leaseMatcher(query: LeaseQuery, nowMs: number): (rack: RackView, lease: LeaseReport) => boolean {
  const mac = query.mac?.toLowerCase().replaceAll("-", ":");
  const name = query.name?.toLowerCase();
  const address = query.address?.toLowerCase();
  return (rack, lease) =>
    (query.rack === undefined || rack.name === query.rack || rack.id === query.rack) &&
    (query.state === undefined || lease.state === query.state) &&
    (address === undefined || lease.address.includes(address)) &&
    (mac === undefined || (lease.hardwareAddress?.includes(mac) ?? false)) &&
    (name === undefined || (lease.dnsLabel?.includes(name) ?? false)) &&
    (query.inUse === undefined || leaseInUse({ rack, lease }, nowMs) === (query.inUse === "true"));
}
