import { type HardwareAddress, parseHardwareAddress } from "../address/hardware.js";
import type { LeaseReport } from "../protocol/messages.js";
import { hardwareAddressOf } from "./hardware-of.js";
import { dnsLabelOf } from "../names/client-name.js";
import { decodeHostname } from "./hostname.js";
import type { Lease } from "./model.js";
import { allocatableAt, inUseAt, stateAt } from "./standing.js";

/**
 * The lease as the rack reports it to the coordinator, as of `now` (ms). Null for a delegated prefix, which is no address that anybody holds.
 */
export function toLeaseReport(lease: Lease, now: number): LeaseReport | null {
  if (lease.family === 6 && lease.prefix !== null) return null;
  const hardware = hardwareAddressOf(lease);
  const claimed = lease.family === 4 ? lease.clientHostname : null;
  return {
    address: lease.address,
    state: stateAt(lease, now),
    inUse: inUseAt(lease, now),
    allocatable: allocatableAt(lease, now),
    hardwareAddress: hardware === null ? null : reported(hardware),
    dnsLabel: claimed === null ? null : dnsLabelOf(decodeHostname(claimed)),
    starts: lease.family === 4 && typeof lease.starts === "number" ? lease.starts : null,
    ends: lease.ends,
  };
}

/** An Ethernet address is in canonical text already. */
function reported(hardware: string): HardwareAddress | null {
  return hardware.length === 17 ? (hardware as HardwareAddress) : parseHardwareAddress(hardware);
}
