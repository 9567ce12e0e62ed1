import { prefixFamily, type IpPrefix, type IpRange } from "../address/prefix.js";
import type { DesiredState, DesiredSubnet } from "../desired/schema.js";
import { compileWindow } from "../dhcpd/compile-window.js";
import { windowRanges6 } from "../dhcpd/compile6.js";
import { enlistmentRanges } from "../dhcpd/enlistment.js";
import type { RackLink, RackLinks } from "../dhcpd/rack-links.js";

/** What unknown machines of one subnet can be given by this rack. */
export interface ServedPool {
  readonly subnetId: number;
  /** The subnet's prefix, whatever network the ranges lie in. */
  readonly prefix: IpPrefix;
  /** Where it is served directly; null: through relays. */
  readonly interfaceName: string | null;
  /** Ascending, not touching: the pools as dhcpd has them. */
  readonly ranges: readonly IpRange[];
}

/** The pools of window and slice that dhcpd has at this rack; subnets without any are left out. */
export function servedPools(desired: Pick<DesiredState, "subnets">, local: RackLinks): readonly ServedPool[] {
  return desired.subnets.flatMap((subnet): ServedPool[] => {
    const link = local.links.find(({ subnetId }) => subnetId === subnet.id);
    // IPv6 is not served through relays.
    const relay = prefixFamily(subnet.prefix) === 6 ? undefined : local.relays?.find(({ subnetId }) => subnetId === subnet.id);
    const own = link ?? relay;
    const ranges = own === undefined ? [] : rangesOf(subnet, own, local.links);
    return ranges.length === 0 ? [] : [{ subnetId: subnet.id, prefix: subnet.prefix, interfaceName: link?.name ?? null, ranges }];
  });
}

function rangesOf(subnet: DesiredSubnet, own: RackLink, links: readonly RackLink[]): readonly IpRange[] {
  if (prefixFamily(subnet.prefix) === 6) return windowRanges6(subnet, links);
  if (subnet.mode === "link-local" && subnet.enlistment !== null) return enlistmentRanges(subnet.enlistment.slice);
  return compileWindow(subnet, own, links).pools.flatMap(({ ranges }) => ranges);
}
