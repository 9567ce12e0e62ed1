import { ipv4Number } from "../address/ip.js";
import { prefixRange, type IpRange } from "../address/prefix.js";
import type { DesiredHost } from "../desired/schema.js";
import type { Problem } from "../problem.js";
import { areDistinct } from "../text/distinct-texts.js";
import { declarationName, type HostGroup, type SubnetDeclaration } from "./config.js";
import { rangeAround, type PlacedRange } from "./placed-range.js";

/** First and last address of a block. */
type Block = readonly [first: number, last: number];

/** Every host in a block that its subnet is served by, once in it, and in no range. `ranges` by first address. */
export function reviewHosts(
  groups: readonly HostGroup[],
  subnets: readonly SubnetDeclaration[],
  ranges: readonly PlacedRange[],
): Problem[] {
  const blocks = blocksOf(subnets);
  return groups.flatMap((group, place) => {
    const isSecond = groups.findIndex(({ subnetId }) => subnetId === group.subnetId) < place;
    const duplicate: Problem[] = isSecond
      ? [{ code: "host-group-duplicate", at: `subnet ${group.subnetId}`, message: "its hosts are declared twice" }]
      : [];
    return [...duplicate, ...reviewGroup(group, blocks.get(group.subnetId) ?? [], ranges)];
  });
}

function reviewGroup({ subnetId, hosts }: HostGroup, blocks: readonly Block[], ranges: readonly PlacedRange[]): Problem[] {
  if (areHostsRight(hosts, blocks, ranges)) return [];
  const problems: Problem[] = [];
  const bound = new Set<string>();
  for (const { hardwareAddress, address } of hosts) {
    const at = `host ${declarationName(subnetId, hardwareAddress)}`;
    if (bound.has(hardwareAddress))
      problems.push({ code: "host-duplicate", at, message: `${hardwareAddress} is declared twice in one subnet` });
    bound.add(hardwareAddress);
    const value = ipv4Number(address);
    if (!isInside(blocks, value))
      problems.push({ code: "fixed-address-outside-subnet", at, message: `${address} is not in its subnet` });
    const range = rangeAround(ranges, value);
    if (range !== null) problems.push({ code: "fixed-address-in-range", at, message: inRange(address, range) });
  }
  return problems;
}

function inRange(address: string, { first, last }: IpRange): string {
  return `${address} is also in the range ${first}-${last}: two machines would get it`;
}

/** The same in one look, without a word about any of them: nearly always all is well. */
function areHostsRight(hosts: readonly DesiredHost[], blocks: readonly Block[], ranges: readonly PlacedRange[]): boolean {
  for (const { address } of hosts) {
    const value = ipv4Number(address);
    if (!isInside(blocks, value) || rangeAround(ranges, value) !== null) return false;
  }
  return areDistinct(hosts, hardwareOf);
}

function hardwareOf({ hardwareAddress }: DesiredHost): string {
  return hardwareAddress;
}

function isInside(blocks: readonly Block[], value: number): boolean {
  for (const [first, last] of blocks) if (first <= value && value <= last) return true;
  return false;
}

/** The blocks that each subnet of the desired state is served by. */
function blocksOf(subnets: readonly SubnetDeclaration[]): Map<number, Block[]> {
  const blocks = new Map<number, Block[]>();
  for (const { subnetId, prefix } of subnets) {
    const { first, last } = prefixRange(prefix);
    blocks.set(subnetId, [...(blocks.get(subnetId) ?? []), [ipv4Number(first), ipv4Number(last)]]);
  }
  return blocks;
}
