import { hardwareOctets, type HardwareAddress } from "../address/hardware.js";

/** Option codes of DHCPv6 (RFC 8415 §21, RFC 3646). */
export const OPTION6 = {
  clientIdentifier: 1,
  iaNa: 3,
  iaAddress: 5,
  oro: 6,
  elapsedTime: 8,
  dnsServers: 23,
} as const;

/** DUID-LL over Ethernet (RFC 8415 §11.4). */
const DUID_LL_ETHERNET = [0, 3, 0, 1];

export function option6(code: number, value: readonly number[]): number[] {
  return [code >> 8, code & 0xff, value.length >> 8, value.length & 0xff, ...value];
}

/** Who asks. */
export function clientIdentifier(hardwareAddress: HardwareAddress): number[] {
  return option6(OPTION6.clientIdentifier, [...DUID_LL_ETHERNET, ...hardwareOctets(hardwareAddress)]);
}
