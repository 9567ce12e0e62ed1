import { addressValue } from "../address/ip.js";
import { prefixContains, prefixesOverlap } from "../address/prefix.js";
import type { Problem } from "../problem.js";
import type { Dhcpd6Config, DhcpdHost6, SubnetDeclaration6 } from "./config6.js";

/** Our own review of a configuration before `dhcpd -6` sees it, with the codes of `reviewDhcpd`; in a stable order. */
export function reviewDhcpd6({ sharedNetworks, hosts }: Dhcpd6Config): Problem[] {
  const subnets = sharedNetworks.flatMap((network) => network.subnets);
  return [...reviewPrefixes(subnets), ...subnets.flatMap(reviewSubnet), ...reviewHosts(hosts, subnets)];
}

function finding(code: string, at: string, message: string): Problem {
  return { code, at, message };
}

/** A rack has few IPv6 subnets: each is held against each. */
function reviewPrefixes(subnets: readonly SubnetDeclaration6[]): Problem[] {
  return subnets.flatMap(({ prefix }, place) => {
    const other = subnets.slice(0, place).find((earlier) => prefixesOverlap(earlier.prefix, prefix));
    if (other === undefined) return [];
    const at = `subnet ${prefix}`;
    return other.prefix === prefix
      ? [finding("subnet-duplicate", at, `${prefix} is declared twice`)]
      : [finding("subnet-overlap", at, `${prefix} overlaps ${other.prefix}`)];
  });
}

function reviewSubnet({ prefix, leaseTimes, ranges, ownAddress }: SubnetDeclaration6): Problem[] {
  const problems: Problem[] = [];
  const { min, usual, max } = leaseTimes;
  if (min > usual || usual > max)
    problems.push(finding("lease-times-inverted", `subnet ${prefix}`, `lease times ${min}, ${usual}, ${max} s do not rise`));
  let end = -1n;
  for (const { first, last } of ranges) {
    const at = `subnet ${prefix} range ${first}-${last}`;
    if (!prefixContains(prefix, first) || !prefixContains(prefix, last))
      problems.push(finding("range-outside-subnet", at, `the range is not inside ${prefix}`));
    if (addressValue(first) > addressValue(last)) problems.push(finding("range-inverted", at, "the range ends before it begins"));
    if (addressValue(first) <= end) problems.push(finding("range-overlap", at, "the range overlaps another one"));
    end = addressValue(last) > end ? addressValue(last) : end;
  }
  if (!prefixContains(prefix, ownAddress))
    problems.push(finding("own-address-outside-subnet", `subnet ${prefix}`, `the rack's own ${ownAddress} is not in it`));
  if (isInRange({ ranges }, addressValue(ownAddress)))
    problems.push(finding("own-address-in-range", `subnet ${prefix}`, `the rack's own ${ownAddress} is in a range`));
  return problems;
}

function reviewHosts(hosts: readonly DhcpdHost6[], subnets: readonly SubnetDeclaration6[]): Problem[] {
  const byId = new Map(subnets.map((subnet) => [subnet.subnetId, subnet]));
  const names = new Set<string>();
  const bound = new Set<string>();
  return hosts.flatMap(({ name, subnetId, hardwareAddress, fixedAddress }) => {
    const at = `host ${name}`;
    const problems: Problem[] = [];
    if (names.has(name)) problems.push(finding("host-name-duplicate", at, "two host declarations have this name"));
    names.add(name);
    const key = `${subnetId} ${hardwareAddress}`;
    if (bound.has(key)) problems.push(finding("host-duplicate", at, `${hardwareAddress} is declared twice in one subnet`));
    bound.add(key);
    const subnet = byId.get(subnetId);
    if (subnet === undefined || !prefixContains(subnet.prefix, fixedAddress))
      problems.push(finding("fixed-address-outside-subnet", at, `${fixedAddress} is not in its subnet`));
    else if (isInRange(subnet, addressValue(fixedAddress)))
      problems.push(finding("fixed-address-in-range", at, `${fixedAddress} is also in a range: two machines would get it`));
    return problems;
  });
}

/** By bisection: many hosts and many ranges must not meet pairwise. */
function isInRange({ ranges }: Pick<SubnetDeclaration6, "ranges">, value: bigint): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const range = ranges[middle];
    if (range !== undefined && addressValue(range.first) <= value) low = middle + 1;
    else high = middle;
  }
  const candidate = ranges[low - 1];
  return candidate !== undefined && addressValue(candidate.last) >= value;
}
