import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { IpPrefix, IpRange } from "../address/prefix.js";
import type { SubnetDhcpChange } from "../desired/dhcp-settings.js";
import type { DhcpMode } from "../desired/schema.js";

/** A network as an operator declares it. Times in seconds. What is left out gets the default. */
export interface SubnetRequest {
  readonly prefix: string;
  readonly site?: string;
  readonly gateway?: IpAddress | null;
  readonly domain: string;
  readonly mode: DhcpMode;
  readonly window?: IpRange | null;
  readonly enlistment?: { readonly pool?: IpPrefix; readonly sliceLength?: number; readonly leaseTime?: number } | null;
  readonly reserved?: readonly IpRange[];
  readonly dns?: readonly IpAddress[] | null;
  readonly ntp?: readonly IpAddress[] | null;
  readonly leaseTime?: number;
  readonly maxLeaseTime?: number;
  /** A change leaves what it does not name. */
  readonly dhcp?: SubnetDhcpChange | null;
}

export interface EnrollRequest {
  /** First NIC is the one the address belongs to; several are a bond. */
  readonly nics: readonly HardwareAddress[];
  readonly name?: string | null;
  /** Subnet by id or prefix; without it the one whose rack saw the machine. */
  readonly subnet?: string | null;
  readonly address?: IpAddress | null;
}
