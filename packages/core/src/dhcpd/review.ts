import { ipv4Number } from "../address/ip.js";
import { prefixContains, prefixesOverlap, prefixRange, usableRange, type IpPrefix } from "../address/prefix.js";
import type { Problem } from "../problem.js";
import type { DhcpdConfig, SubnetDeclaration } from "./config.js";
import { placedRanges, rangeAround, type PlacedRange } from "./placed-range.js";
import { reviewFailovers } from "./review-failover.js";
import { reviewHosts } from "./review-hosts.js";
import { reviewOptions } from "./review-options.js";

/**
 * Our own review of a configuration before dhcpd sees it, because `dhcpd -t` accepts fixed addresses inside ranges or outside
 * every subnet, ranges with network and broadcast, inverted ranges, overlapping and duplicate subnets and unresolvable names. In a stable order.
 */
export function reviewDhcpd(config: DhcpdConfig): Problem[] {
  const subnets = config.sharedNetworks.flatMap((network) => network.subnets);
  const ranges = placedRanges(subnets);
  return [
    ...reviewPrefixes([...subnets.map((subnet) => subnet.prefix), ...config.carriers]),
    ...subnets.flatMap(reviewSubnet),
    ...subnets.flatMap((subnet) => reviewOptions(subnet)),
    ...reviewFailovers(config),
    ...reviewRanges(ranges),
    ...reviewHosts(config.hosts, subnets, ranges),
    ...reviewOwnAddresses(subnets, ranges),
  ];
}

function finding(code: string, at: string, message: string): Problem {
  return { code, at, message };
}

function reviewPrefixes(prefixes: readonly IpPrefix[]): Problem[] {
  const sorted = prefixes.toSorted((a, b) => startOf(a) - startOf(b) || endOf(b) - endOf(a));
  const problems: Problem[] = [];
  let widest: IpPrefix | undefined;
  for (const prefix of sorted) {
    if (widest === undefined || !prefixesOverlap(widest, prefix)) widest = prefix;
    else if (widest === prefix) problems.push(finding("subnet-duplicate", `subnet ${prefix}`, `${prefix} is declared twice`));
    else problems.push(finding("subnet-overlap", `subnet ${prefix}`, `${prefix} overlaps ${widest}`));
  }
  return problems;
}

function reviewSubnet(subnet: SubnetDeclaration): Problem[] {
  const at = `subnet ${subnet.prefix}`;
  const problems: Problem[] = [];
  if (!subnet.relayed && !prefixContains(subnet.prefix, subnet.serverIdentifier))
    problems.push(
      finding("server-identifier-outside-subnet", at, `the server identifier ${subnet.serverIdentifier} is not in it`),
    );
  const { min, usual, max } = subnet.leaseTimes;
  if (min > usual || usual > max)
    problems.push(finding("lease-times-inverted", at, `lease times ${min}, ${usual}, ${max} s do not rise`));
  for (const pool of subnet.pools) {
    if (pool.ranges.length === 0) problems.push(finding("pool-empty", at, "a pool has no range"));
  }
  return problems;
}

function reviewRanges(ranges: readonly PlacedRange[]): Problem[] {
  const problems: Problem[] = [];
  let end = -1;
  for (const { range, first, last, prefix } of ranges) {
    const at = `subnet ${prefix} range ${range.first}-${range.last}`;
    const usable = usableRange(prefix);
    if (first > last) problems.push(finding("range-inverted", at, "the range ends before it begins"));
    if (!prefixContains(prefix, range.first) || !prefixContains(prefix, range.last))
      problems.push(finding("range-outside-subnet", at, `the range is not inside ${prefix}`));
    else if (first < ipv4Number(usable.first) || last > ipv4Number(usable.last))
      problems.push(finding("range-has-network-or-broadcast", at, "the range contains the network or broadcast address"));
    if (first <= end) problems.push(finding("range-overlap", at, "the range overlaps another one"));
    end = Math.max(end, last);
  }
  return problems;
}

/** The rack's own address is no host's, but strangers must not get it either. */
function reviewOwnAddresses(subnets: readonly SubnetDeclaration[], ranges: readonly PlacedRange[]): Problem[] {
  return subnets
    .filter(({ serverIdentifier }) => rangeAround(ranges, ipv4Number(serverIdentifier)) !== null)
    .map(({ prefix, serverIdentifier }) =>
      finding("own-address-in-range", `subnet ${prefix}`, `the rack's own ${serverIdentifier} is in a range`),
    );
}

function startOf(prefix: IpPrefix): number {
  return ipv4Number(prefixRange(prefix).first);
}

function endOf(prefix: IpPrefix): number {
  return ipv4Number(prefixRange(prefix).last);
}
