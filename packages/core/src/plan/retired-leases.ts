import type { HardwareAddress } from "../address/hardware.js";
import { compareAddresses } from "../address/ip.js";
import type { RetiredLease } from "../desired/schema.js";
import type { RackView } from "../topology/rack-view.js";
import type { SiteView } from "./site-view.js";

/** In one desired state; more have to wait for their end, as all do where OMAPI is off. */
const RETIRED_MAX = 4096;

/**
 * Leases that the NICs of released machines still have in a rack's pools, by address. A lease that began or was renewed after the release belongs
 * to a machine that came back as a stranger, and a NIC that has an address again is no stranger: both are left alone. `now` in milliseconds since 1970.
 */
export function retiredLeases(rack: RackView, { view, now }: { readonly view: SiteView; readonly now: number }): RetiredLease[] {
  const released = releasedNics(view, rack, now);
  if (released.size === 0) return [];
  const retired: RetiredLease[] = [];
  for (const { address, hardwareAddress, state, starts, ends } of rack.leases.values()) {
    const releasedAt = hardwareAddress === null ? undefined : released.get(hardwareAddress);
    if (hardwareAddress === null || releasedAt === undefined || state !== "active") continue;
    if (starts === null || typeof ends !== "number" || ends * 1000 <= now) continue;
    if (starts * 1000 - (rack.clockAheadMs ?? 0) <= releasedAt) retired.push({ address, hardwareAddress, ends });
  }
  return retired.sort((a, b) => compareAddresses(a.address, b.address)).slice(0, RETIRED_MAX);
}

/** When each NIC's static address was last given up, as long as that rests. A rest of a pool's own address is a stranger's. */
function releasedNics({ quarantines, allocations }: SiteView, { leases }: RackView, now: number): Map<HardwareAddress, number> {
  const released = new Map<HardwareAddress, number>();
  for (const resting of quarantines.values()) {
    for (const { address, nics, releasedAt, until } of resting) {
      if (until <= now || leases.has(address)) continue;
      for (const nic of nics) released.set(nic, Math.max(released.get(nic) ?? 0, releasedAt));
    }
  }
  if (released.size === 0) return released;
  for (const ofSubnet of allocations.values()) for (const { nics } of ofSubnet) for (const nic of nics) released.delete(nic);
  return released;
}
