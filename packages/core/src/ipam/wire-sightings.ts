import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";

/** An address that somebody outside the ledger answered for on the wire of a site. */
export interface WireSighting {
  readonly address: IpAddress;
  readonly hardwareAddress: HardwareAddress | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** What was seen on the wire of a site, by address, the newest sighting of each. */
export type WireSightings = (site: string) => ReadonlyMap<IpAddress, WireSighting>;

/** While an address was seen within this time, nobody is given it; later it is the last resort. */
export const OBSERVATION_WINDOW_MS = 7 * 24 * 3600 * 1000;

/** The sighting of an address by another NIC than these; null when there is none. */
export function strangerOnWire(
  sightings: WireSightings | undefined,
  { site, address, nics }: { readonly site: string; readonly address: IpAddress; readonly nics: readonly HardwareAddress[] },
): WireSighting | null {
  const sighting = sightings?.(site).get(address);
  if (sighting === undefined) return null;
  return sighting.hardwareAddress !== null && nics.includes(sighting.hardwareAddress) ? null : sighting;
}
