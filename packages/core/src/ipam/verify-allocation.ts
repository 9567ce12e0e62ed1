import type { HardwareAddress } from "../address/hardware.js";
import type { Problem } from "../problem.js";
import type { Allocation } from "./model.js";
import { wasSilent, type WireRecord } from "./wire-record.js";

/**
 * What the wire says of a given address. `verified`: it was probed shortly before it was given or since, and nobody answered that should not;
 * `unverified`: nobody looked; `in-use-by-other`: somebody else answers.
 */
export type Verification = "verified" | "unverified" | "in-use-by-other";

/** A probe is good for this long: whoever is given the address then gets it verified. */
export const PROBE_FRESH_MS = 15 * 60_000;

/** `machineNics`: all of its machine's, not only those that DHCP serves. */
export function verificationOf(
  allocation: Allocation,
  record: WireRecord | undefined,
  machineNics: readonly HardwareAddress[],
): Verification {
  if (record === undefined) return "unverified";
  if (foreignHolders(allocation, record, machineNics).length > 0 && record.confirmed) return "in-use-by-other";
  const { probedAt } = record;
  return probedAt !== null && probedAt >= allocation.createdAt - PROBE_FRESH_MS ? "verified" : "unverified";
}

/**
 * Who answers at the address of a machine and is none of its NICs; nobody where the last probe heard nothing. Additional addresses and VIPs are for
 * containers and hosts with hardware addresses of their own, so nobody is foreign there.
 */
export function foreignHolders(
  { kind, nics }: Allocation,
  record: WireRecord,
  machineNics: readonly HardwareAddress[],
): readonly HardwareAddress[] {
  if (kind !== "machine" || wasSilent(record)) return [];
  return record.hardwareAddresses.filter((holder) => !nics.includes(holder) && !machineNics.includes(holder));
}

/** The alarm, with both hardware addresses, the machine and where it was heard. */
export function usedByOther(given: {
  readonly allocation: Allocation;
  readonly foreign: readonly HardwareAddress[];
  readonly record: WireRecord;
}): Problem {
  const { allocation, foreign, record } = given;
  const since = new Date(record.seenAt ?? 0).toISOString();
  const own = allocation.nics.join(" ") || "no NIC";
  return {
    code: "address-in-use-by-other",
    at: `${record.site} ${allocation.address}`,
    message: `${foreign.join(" and ")} answers for ${allocation.address} on rack ${record.rack ?? "unknown"} (${since}), which belongs to ${allocation.name} (machine ${allocation.machineId ?? "unknown"}, ${own})`,
    remedy: "find who has it by its hardware address and renumber it, or add the NIC to the machine with `berth machine add-nic`",
  };
}
