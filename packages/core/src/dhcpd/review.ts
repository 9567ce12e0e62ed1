import { ipv4Number } from "../address/ip.js";
import { prefixContains, prefixesOverlap, prefixRange, usableRange, type IpPrefix, type IpRange } from "../address/prefix.js";
import type { Problem } from "../problem.js";
import { reviewFailovers } from "./review-failover.js";
import { reviewOptions } from "./review-options.js";
import type { DhcpdConfig, DhcpdHost, SubnetDeclaration } from "./config.js";

/**
 * Our own review of a configuration before dhcpd sees it, because `dhcpd -t` accepts fixed addresses inside ranges or outside
 * every subnet, ranges with network and broadcast, inverted ranges, overlapping and duplicate subnets and unresolvable names. In a stable order.
 */
export function reviewDhcpd(config: DhcpdConfig): Problem[] {
  const subnets = config.sharedNetworks.flatMap((network) => network.subnets);
  const ranges = subnets.flatMap(rangesOf).sort((a, b) => a.first - b.first);
  return [
    ...reviewPrefixes([...subnets.map((subnet) => subnet.prefix), ...config.carriers]),
    ...subnets.flatMap(reviewSubnet),
    ...subnets.flatMap((subnet) => reviewOptions(subnet)),
    ...reviewFailovers(config),
    ...reviewRanges(ranges),
    ...reviewHosts(config.hosts, subnets, ranges),
  ];
}

interface PlacedRange {
  readonly range: IpRange;
  readonly first: number;
  readonly last: number;
  readonly prefix: IpPrefix;
}

function rangesOf(subnet: SubnetDeclaration): PlacedRange[] {
  return subnet.pools.flatMap((pool) =>
    pool.ranges.map((range) => ({ range, first: ipv4Number(range.first), last: ipv4Number(range.last), prefix: subnet.prefix })),
  );
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

function reviewHosts(
  hosts: readonly DhcpdHost[],
  subnets: readonly SubnetDeclaration[],
  ranges: readonly PlacedRange[],
): Problem[] {
  const problems: Problem[] = [];
  const names = new Set<string>();
  const bound = new Map<number, Set<string>>();
  const blocks = blocksOf(subnets);
  const report = (host: DhcpdHost, code: string, message: string): void => {
    problems.push(finding(code, `host ${host.name}`, message));
  };
  for (const host of hosts) {
    if (names.has(host.name)) report(host, "host-name-duplicate", "two host declarations have this name");
    names.add(host.name);
    const inSubnet = bound.get(host.subnetId) ?? new Set();
    if (inSubnet.has(host.hardwareAddress))
      report(host, "host-duplicate", `${host.hardwareAddress} is declared twice in one subnet`);
    bound.set(host.subnetId, inSubnet.add(host.hardwareAddress));
    const value = ipv4Number(host.fixedAddress);
    if (blocks.get(host.subnetId)?.some(([first, last]) => first <= value && value <= last) !== true)
      report(host, "fixed-address-outside-subnet", `${host.fixedAddress} is not in its subnet`);
    const range = rangeAround(ranges, value);
    if (range !== null)
      report(
        host,
        "fixed-address-in-range",
        `${host.fixedAddress} is also in the range ${range.first}-${range.last}: two machines would get it`,
      );
  }
  for (const subnet of subnets) {
    const range = rangeAround(ranges, ipv4Number(subnet.serverIdentifier));
    if (range !== null)
      problems.push(
        finding("own-address-in-range", `subnet ${subnet.prefix}`, `the rack's own ${subnet.serverIdentifier} is in a range`),
      );
  }
  return problems;
}

/** First and last address of the blocks that each subnet of the desired state is served by. */
function blocksOf(subnets: readonly SubnetDeclaration[]): Map<number, [number, number][]> {
  const blocks = new Map<number, [number, number][]>();
  for (const { subnetId, prefix } of subnets)
    blocks.set(subnetId, [...(blocks.get(subnetId) ?? []), [startOf(prefix), endOf(prefix)]]);
  return blocks;
}

/** By bisection over ranges sorted by first address: 50,000 hosts and many ranges must not meet pairwise. */
function rangeAround(ranges: readonly PlacedRange[], value: number): IpRange | null {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.first ?? Infinity) <= value) low = middle + 1;
    else high = middle;
  }
  const candidate = ranges[low - 1];
  return candidate !== undefined && candidate.last >= value ? candidate.range : null;
}

function startOf(prefix: IpPrefix): number {
  return ipv4Number(prefixRange(prefix).first);
}

function endOf(prefix: IpPrefix): number {
  return ipv4Number(prefixRange(prefix).last);
}
