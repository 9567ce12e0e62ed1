import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import { leasesOfNic } from "../protocol/rack-leases.js";
import type { LeaseReport } from "../protocol/messages.js";
import { interfaceWith, type RackFinder } from "../topology/rack-finder.js";
import type { RackView } from "../topology/rack-view.js";
import type { Quarantine, Subnet } from "./model.js";
import { servedSubnets } from "./served-subnets.js";
import type { WireSightings } from "./wire-sightings.js";

/** Why an address is taken although the ledger gave it to nobody. */
export interface ObservedHolder {
  readonly code: "held-by-rack" | "held-by-lease";
  /** Ready for a message: `rack r1 has it on eth0`. */
  readonly text: string;
  /** Milliseconds since 1970 after which this reason is gone by itself; null when nobody knows. */
  readonly until: number | null;
}

/** Where a machine was last seen by one of its NICs. */
export interface Sighting {
  readonly rack: RackView;
  readonly lease: LeaseReport;
}

/** What all racks saw, asked by address; made anew for each turn of decisions, because the views behind it change. */
export interface Observed {
  /** Who holds the address in that site; a lease of one of `nics` is no obstacle. `now` in milliseconds since 1970. */
  holder(site: string, address: IpAddress, nics: readonly HardwareAddress[]): ObservedHolder | null;
  /** The newest lease of one of these NICs on any rack. */
  sighting(nics: readonly HardwareAddress[]): Sighting | null;
  /** Why a released address may still be served to its last holder although its rest is over by the calendar; null when it is not. */
  stillServed(subnet: Subnet, quarantine: Quarantine): string | null;
  readonly enlistmentSubnet: EnlistmentSubnet;
  /** Left out, nothing is known of the wire. */
  readonly wire?: WireSightings;
  /** How long a sighting keeps its address from being given; left out, seven days. */
  readonly wireWindowMs?: number;
  /** By what they report; asked only for what concerns the request, because there are thousands. */
  readonly racks: RackFinder;
}

/** The subnet on whose link a rack gives addresses of that enlistment slice; null where none of its plans has such a slice. */
export type EnlistmentSubnet = (rackId: string, address: IpAddress) => number | null;

/** What the plans handed out tell of the racks. */
export interface PlanFacts {
  readonly withdrawnAt: WithdrawnAt;
  readonly enlistmentSubnet: EnlistmentSubnet;
}

/** Without plans: a release counts as taken over at once, and a slice says nothing. */
const NO_PLANS: PlanFacts = { withdrawnAt: (_, releasedAt) => releasedAt, enlistmentSubnet: () => null };

/**
 * When a rack was first known to run a plan without what was released at that time, in milliseconds since 1970; null while it is not known to,
 * because it is cut off or its dhcpd would not take the plan.
 */
export type WithdrawnAt = (rackId: string, releasedAt: number) => number | null;

export function observedBy(racks: RackFinder, now: number, plans: PlanFacts = NO_PLANS): Observed {
  const servers = new Map<Subnet, readonly RackView[]>();
  const serversOf = (subnet: Subnet): readonly RackView[] => {
    const known = servers.get(subnet) ?? serving(subnet, racks.all());
    servers.set(subnet, known);
    return known;
  };
  return {
    racks,
    enlistmentSubnet: plans.enlistmentSubnet,
    holder(site, address, nics) {
      for (const rack of racks.holding(address)) {
        const holder = rack.site !== site ? null : (rackHolder(rack, address) ?? leaseHolder(rack, address, { nics, now }));
        if (holder !== null) return holder;
      }
      return null;
    },
    stillServed(subnet, quarantine) {
      for (const rack of serversOf(subnet)) {
        const at = plans.withdrawnAt(rack.id, quarantine.releasedAt);
        if (at === null) return `rack ${rack.name} has not taken over the release yet and may serve it to its last holder`;
        const until = at + quarantine.until - quarantine.releasedAt;
        if (now < until)
          return `rack ${rack.name} took over the release late, so it rests until ${new Date(until).toISOString()}`;
      }
      return null;
    },
    sighting: (nics) => newestSighting(racks.seeing(nics), nics),
  };
}

function serving(subnet: Subnet, racks: readonly RackView[]): readonly RackView[] {
  return racks.filter((rack) => rack.site === subnet.site && servedSubnets([subnet], rack).length > 0);
}

function rackHolder(rack: RackView, address: IpAddress): ObservedHolder | null {
  const name = interfaceWith(rack, address);
  return name === null ? null : { code: "held-by-rack", text: `rack ${rack.name} has it on ${name}`, until: null };
}

/** Who may still use the address by a lease of that rack; a lease of one of `nics` is no obstacle. */
export function leaseHolder(
  rack: RackView,
  address: IpAddress,
  asked: { readonly nics: readonly HardwareAddress[]; readonly now: number },
): ObservedHolder | null {
  const lease = rack.leases.get(address);
  if (lease === undefined) return null;
  const until = leaseBlocksUntil(lease, rack);
  if (until !== null && until <= asked.now) return null;
  if (isOwnLease(lease, asked.nics)) return null;
  const who = lease.hardwareAddress ?? "an unknown client";
  return { code: "held-by-lease", text: `${lease.state} lease of ${who} on rack ${rack.name}`, until };
}

/**
 * Until when a lease keeps its address from everybody else, in milliseconds since 1970: its end plus a tenth of its length, because the
 * holder's clock and ours differ; null while nobody can say (in use without an end, abandoned, kept by a failover peer, or reported by a
 * rack that is silent now and may have renewed it since). The end stands in the rack's time: where its clock is behind ours, the lease ends later than
 * it reads. Where it is ahead nothing is taken off, because dhcpd goes by that clock, which may be set right before the lease ends.
 */
export function leaseBlocksUntil(
  lease: LeaseReport,
  { connected, clockAheadMs }: Pick<RackView, "connected" | "clockAheadMs">,
): number | null {
  if (!lease.allocatable && (!connected || lease.state !== "active" || typeof lease.ends !== "number")) return null;
  if (typeof lease.ends !== "number") return 0;
  const length = lease.starts === null ? 0 : Math.max(lease.ends - lease.starts, 0);
  const until = (lease.ends + length / 10) * 1000 + Math.max(0, -(clockAheadMs ?? 0));
  return lease.state === "active" || lease.state === "expired" || lease.state === "free" ? until : 0;
}

function isOwnLease(lease: LeaseReport, nics: readonly HardwareAddress[]): boolean {
  return lease.hardwareAddress !== null && lease.state !== "abandoned" && nics.includes(lease.hardwareAddress);
}

function newestSighting(racks: readonly RackView[], nics: readonly HardwareAddress[]): Sighting | null {
  let newest: Sighting | null = null;
  for (const rack of racks)
    for (const nic of nics)
      for (const lease of leasesOfNic(rack.leases, nic))
        if (newest === null || (lease.starts ?? 0) > (newest.lease.starts ?? 0)) newest = { rack, lease };
  return newest;
}
