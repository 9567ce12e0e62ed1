import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { Quarantine } from "./model.js";

/** An address that somebody answered for on the wire of a site. */
export interface WireSighting {
  readonly address: IpAddress;
  /** Who answered last. */
  readonly hardwareAddresses: readonly HardwareAddress[];
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What was seen on the wires of all sites, the newest sighting of each address. */
export interface WireSightings {
  of(site: string, address: IpAddress): WireSighting | undefined;
  /** All of a site, longest ago first. */
  oldest(site: string): Iterable<WireSighting>;
}

/** While an address was seen within this time, nobody is given it; later it is the last resort. A setting. */
export const OBSERVATION_WINDOW_MS = 7 * 24 * 3600 * 1000;

/**
 * The sighting of an address by another NIC than these; null when there is none. The machine that had the address is no stranger there as long as it rests
 * (`former`): until then a lease may keep it there.
 */
export function strangerOnWire(
  sightings: WireSightings | undefined,
  asked: {
    readonly site: string;
    readonly address: IpAddress;
    readonly nics: readonly HardwareAddress[];
    readonly former: Quarantine | undefined;
  },
): WireSighting | null {
  const sighting = sightings?.of(asked.site, asked.address);
  if (sighting === undefined) return null;
  const { former, nics } = asked;
  if (sighting.hardwareAddresses.every((holder) => nics.includes(holder))) return null;
  const explained = former !== undefined && sighting.at <= former.until;
  return explained && sighting.hardwareAddresses.every((holder) => former.nics.includes(holder)) ? null : sighting;
}
