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
  const retired: RetiredLease[] = [];
  for (const { address, hardwareAddress, state, starts, ends } of rack.leases.values()) {
    if (hardwareAddress === null || state !== "active") continue;
    if (starts === null || typeof ends !== "number" || ends * 1000 <= now) continue;
    const releasedAt = lastReleased(hardwareAddress, { view, rack, now });
    if (releasedAt === null || view.facts.isServed(hardwareAddress)) continue;
    if (starts * 1000 - (rack.clockAheadMs ?? 0) <= releasedAt) retired.push({ address, hardwareAddress, ends });
  }
  return retired.sort((a, b) => compareAddresses(a.address, b.address)).slice(0, RETIRED_MAX);
}

interface Place {
  readonly view: SiteView;
  readonly rack: RackView;
  readonly now: number;
}

/** When the NIC's static address was last given up, as long as that rests. A rest of a pool's own address is a stranger's. */
function lastReleased(nic: HardwareAddress, { view, rack, now }: Place): number | null {
  let last: number | null = null;
  for (const { address, releasedAt, until } of view.facts.quarantinesOf(nic)) {
    if (until <= now || rack.leases.has(address)) continue;
    last = Math.max(last ?? releasedAt, releasedAt);
  }
  return last;
}
