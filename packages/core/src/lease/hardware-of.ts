import { formatColonHex } from "./octets.js";
import type { Lease, LeaseHardware } from "./model.js";

const ETHERNET = "ethernet";

/** The address as an Ethernet address in canonical text; null for every other kind, which must never match one. */
export function ethernetOf(hardware: LeaseHardware | null): string | null {
  return hardware?.type === ETHERNET && hardware.octets.length === 6 ? formatColonHex(hardware.octets) : null;
}

/**
 * The Ethernet address inside a DUID: DUID-LLT or DUID-LL (RFC 8415 §11.2, §11.4) of hardware type 1 and exactly six octets. Null otherwise:
 * a DUID is an opaque name, and this is only what many clients make it from.
 */
export function ethernetOfDuid(duid: Uint8Array): string | null {
  const type = ((duid[0] ?? 0) << 8) | (duid[1] ?? 0);
  const hardwareType = ((duid[2] ?? 0) << 8) | (duid[3] ?? 0);
  const start = type === 1 ? 8 : type === 3 ? 4 : -1;
  return start > 0 && hardwareType === 1 && duid.length === start + 6 ? formatColonHex(duid.subarray(start)) : null;
}

/** The address under which a lease is found and reported: Ethernet, or another kind that no Ethernet address can be taken for. */
export function hardwareAddressOf(lease: Lease): string | null {
  if (lease.family === 6) return ethernetOfDuid(lease.duid);
  return hardwareText(lease.hardware);
}

export function hardwareText(hardware: LeaseHardware | null): string | null {
  if (hardware === null || hardware.octets.length === 0) return null;
  return ethernetOf(hardware) ?? (hardware.octets.length === 6 ? null : formatColonHex(hardware.octets));
}
