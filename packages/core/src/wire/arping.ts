import { parseHardwareAddress, type HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";

/** Debian has two programs of that name, which exclude each other: of `iputils-arping`, and Thomas Habets's of `arping`. */
export type ArpingFlavor = "iputils" | "habets";

/** Which of the two says this of its usage; null for neither. */
export function arpingFlavor(usage: string): ArpingFlavor | null {
  if (/habets/i.test(usage)) return "habets";
  return /duplicate address detection/i.test(usage) ? "iputils" : null;
}

/** How long one question takes at most, seconds. */
export const ARPING_SECONDS = 2;

/**
 * The argv of an ARP probe (RFC 5227 §2.1.1: sender 0.0.0.0, so that no cache learns anything from it), repeated once. `-D` of iputils ends with the first answer
 * and would hide a second holder.
 */
export function arpingArgv(flavor: ArpingFlavor, { interfaceName, address }: ArpQuestion): readonly [string, ...string[]] {
  const limits = ["-c", "2", "-w", String(ARPING_SECONDS), "-I", interfaceName];
  return flavor === "iputils" ? ["arping", "-b", "-s", "0.0.0.0", ...limits, address] : ["arping", "-0", ...limits, address];
}

export interface ArpQuestion {
  readonly interfaceName: string;
  readonly address: IpAddress;
}

/** Answers kept of one question; more would be an attack. */
const ANSWERS_MAX = 8;

/** Who answered, each once and in order: `[02:00:..]` of iputils, `from 02:00:.. (address)` of Habets's. */
export function arpingAnswers(output: string): readonly HardwareAddress[] {
  const answers = new Set<HardwareAddress>();
  for (const [, bracketed, plain] of output.matchAll(
    /\[((?:[0-9a-f]{2}:){5}[0-9a-f]{2})\]|from ((?:[0-9a-f]{2}:){5}[0-9a-f]{2}) \(/gi,
  )) {
    const address = parseHardwareAddress(bracketed ?? plain ?? "");
    if (address !== null && answers.size < ANSWERS_MAX) answers.add(address);
  }
  return [...answers].sort();
}
