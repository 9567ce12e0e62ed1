import type { IpAddress } from "../address/ip.js";
import type { Observed } from "./observed.js";
import type { SubnetSpace } from "./subnet-space.js";
import { strangerOnWire } from "./wire-sightings.js";

/** Addresses ahead of the picker that are probed in each subnet. */
export const PROBED_AHEAD = 16;

/** The addresses that would be given next in a subnet, in their order: those that nobody is known to hold. */
export function nextAddresses(space: SubnetSpace, observed: Observed, now: number): readonly IpAddress[] {
  const { site } = space.subnet;
  const isFree = (address: IpAddress): boolean =>
    observed.holder(site, address, []) === null &&
    strangerOnWire(observed.wire, { site, address, nics: [], former: space.rest.get(address) }) === null;
  const fresh = space.upcoming(PROBED_AHEAD, isFree);
  if (fresh.length > 0) return fresh;
  const rested = space.rest.next(now, ({ address }) => space.isSetAside(address) || !isFree(address));
  return rested === null ? [] : [rested.address];
}
