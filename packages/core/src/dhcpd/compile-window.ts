import type { IpAddress } from "../address/ip.js";
import type { IpPrefix, IpRange } from "../address/prefix.js";
import type { DesiredSubnet } from "../desired/schema.js";
import type { Problem } from "../problem.js";
import type { FailoverPeer, Pool } from "./config.js";
import { splitIntoPools, subtractExcluded } from "./pools.js";
import type { RackLink } from "./rack-links.js";

/** What strangers of a subnet are given. */
export interface CompiledWindow {
  readonly pools: readonly Pool[];
  /** Declared only where a pool uses it: dhcpd would talk to a partner about nothing. */
  readonly failover: FailoverPeer | null;
  readonly warnings: readonly Problem[];
}

const NOTHING: CompiledWindow = { pools: [], failover: null, warnings: [] };

export function compileWindow(subnet: DesiredSubnet, own: RackLink, links: readonly RackLink[]): CompiledWindow {
  if (subnet.mode !== "window" || subnet.window === null) return NOTHING;
  const { window, failover } = subnet;
  if (failover !== undefined && failover.address !== own.address)
    return {
      ...NOTHING,
      warnings: [
        {
          code: "failover-address-not-here",
          at: `subnet ${subnet.prefix}`,
          message: `its partner expects this rack at ${failover.address}, but its address here is ${own.address}: alone it would give what its partner gives`,
          remedy: "give the rack that address, or wait until the region knows the new one",
        },
      ],
    };
  const pools = splitIntoPools(subtractExcluded(window, neverInPool(subnet, links), subnet.excludedRanges ?? []));
  if (pools.length === 0)
    return {
      ...NOTHING,
      warnings: [windowEmpty(subnet.prefix, window)],
    };
  return { pools, failover: failover === undefined ? null : { name: failoverName(subnet.id), ...failover }, warnings: [] };
}

/** The name under which dhcpd knows the pair of a subnet. */
export function failoverName(subnetId: number): string {
  return `s${subnetId}`;
}

/** Every single address of the subnet that somebody has or may have by name: dhcpd, short of addresses, gives away whatever its pools contain. */
function neverInPool(subnet: DesiredSubnet, links: readonly RackLink[]): IpAddress[] {
  const { excluded, hosts, dns, ntp, gateway, dhcp, failover } = subnet;
  const own = links.map((link) => link.address);
  const named = [...(dhcp?.routers ?? []), dhcp?.boot?.nextServer, failover?.partner, gateway].filter(
    (it) => it !== undefined && it !== null,
  );
  return [...excluded, ...hosts.map((host) => host.address), ...own, ...dns, ...ntp, ...named];
}

/** Everything in the window is somebody's. */
export function windowEmpty(prefix: IpPrefix, { first, last }: IpRange): Problem {
  return {
    code: "window-empty",
    at: `subnet ${prefix}`,
    message: `the window ${first}-${last} has no address left to give, so unknown machines get none`,
    remedy: "widen it, or release addresses inside it",
  };
}
