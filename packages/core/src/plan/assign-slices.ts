import { addressFromValue, addressValue } from "../address/ip.js";
import { prefixLength, prefixNetwork, prefixesOverlap, prefixAround, ipPrefix, type IpPrefix } from "../address/prefix.js";
import type { Subnet } from "../ipam/model.js";

/** The slice of the enlistment pool on each link of each rack: rack id, then subnet id. */
export type Slices = ReadonlyMap<string, ReadonlyMap<number, IpPrefix>>;

/** One link of a rack: a subnet in mode link-local that the rack serves. */
export interface EnlistmentLink {
  readonly rackId: string;
  readonly subnet: Pick<Subnet, "id" | "enlistment">;
}

/** The first 256 addresses are never used (RFC 3927 §2.1), and a slice that holds them would put the rack where agents expect no one. */
const LOW_RESERVED = ipPrefix("169.254.0.0/24");
const HIGH_RESERVED = ipPrefix("169.254.255.0/24");

/**
 * Gives each link its slice. Two links of one rack never share one, because the kernel could not tell them apart; two racks on one subnet
 * never share one, because both would take the same address of it. What a link had before it keeps while it still fits; a new one is found from
 * the subnet's number on. Links that find none are left out.
 */
export function assignSlices(links: readonly EnlistmentLink[], previous: Slices): Slices {
  const given = new Map<string, Map<number, IpPrefix>>();
  const onSubnet = new Map<number, IpPrefix[]>();
  const give = ({ rackId, subnet }: EnlistmentLink, slice: IpPrefix): void => {
    const ofRack = given.get(rackId) ?? new Map<number, IpPrefix>();
    given.set(rackId, ofRack.set(subnet.id, slice));
    onSubnet.set(subnet.id, [...(onSubnet.get(subnet.id) ?? []), slice]);
  };
  const isFree = ({ rackId, subnet }: EnlistmentLink, slice: IpPrefix): boolean =>
    ![...(given.get(rackId)?.values() ?? []), ...(onSubnet.get(subnet.id) ?? [])].some((taken) => prefixesOverlap(taken, slice));
  for (const link of links) {
    const kept = previous.get(link.rackId)?.get(link.subnet.id);
    if (kept !== undefined && fits(link.subnet, kept) && isFree(link, kept)) give(link, kept);
  }
  for (const link of links) {
    if (given.get(link.rackId)?.has(link.subnet.id) === true) continue;
    const slice = firstFree(link.subnet, (candidate) => isFree(link, candidate));
    if (slice !== null) give(link, slice);
  }
  return given;
}

function fits({ enlistment }: EnlistmentLink["subnet"], slice: IpPrefix): boolean {
  if (prefixLength(slice) !== enlistment?.sliceLength) return false;
  return prefixesOverlap(enlistment.pool, slice) && isUsable(slice);
}

function firstFree({ id, enlistment }: EnlistmentLink["subnet"], isFree: (slice: IpPrefix) => boolean): IpPrefix | null {
  if (enlistment === null) return null;
  const { pool, sliceLength } = enlistment;
  const count = 2 ** (sliceLength - prefixLength(pool));
  for (let step = 0; step < count; step++) {
    const slice = sliceAt(pool, sliceLength, (id + step) % count);
    if (isUsable(slice) && isFree(slice)) return slice;
  }
  return null;
}

function sliceAt(pool: IpPrefix, length: number, index: number): IpPrefix {
  const offset = BigInt(index) << BigInt(32 - length);
  return prefixAround(addressFromValue(4, addressValue(prefixNetwork(pool)) + offset), length);
}

function isUsable(slice: IpPrefix): boolean {
  if (prefixesOverlap(slice, LOW_RESERVED)) return false;
  return prefixLength(slice) < 24 || !prefixesOverlap(slice, HIGH_RESERVED);
}
