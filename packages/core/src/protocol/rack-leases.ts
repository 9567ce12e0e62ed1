import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { LeaseReport } from "./messages.js";

/** Is told of NICs that have leases in a table, each once until it has none. */
export interface NicFollower {
  came(nic: HardwareAddress): void;
  went(nic: HardwareAddress): void;
}

/**
 * A rack's leases by address, which can be asked by NIC, too: every request about a machine asks where its NICs were seen, and must not look
 * through the tens of thousands of leases that a rack may have.
 */
export class RackLeases extends Map<IpAddress, LeaseReport> {
  /** Who follows which NICs have leases here. */
  #follower: NicFollower | null = null;
  /** Most NICs have one lease; a list for each would be most of the memory. */
  readonly #ofNic = new Map<HardwareAddress, IpAddress | readonly IpAddress[]>();

  static from(leases: Iterable<LeaseReport>): RackLeases {
    const table = new RackLeases();
    for (const lease of leases) table.set(lease.address, lease);
    return table;
  }

  override set(address: IpAddress, lease: LeaseReport): this {
    const nic = this.get(address)?.hardwareAddress ?? null;
    if (nic !== lease.hardwareAddress) {
      this.#forget(address, nic);
      this.#note(address, lease.hardwareAddress);
    }
    return super.set(address, lease);
  }

  override delete(address: IpAddress): boolean {
    this.#forget(address, this.get(address)?.hardwareAddress ?? null);
    return super.delete(address);
  }

  override clear(): void {
    for (const nic of this.#ofNic.keys()) this.#follower?.went(nic);
    this.#ofNic.clear();
    super.clear();
  }

  /** The follower hears of all NICs that have leases here, and of each that comes and goes from now on; null instead, and the former one hears that all went. */
  tell(follower: NicFollower | null): void {
    for (const nic of this.#ofNic.keys()) this.#follower?.went(nic);
    this.#follower = follower;
    for (const nic of this.#ofNic.keys()) follower?.came(nic);
  }

  /** All leases of a NIC, over or not. */
  ofNic(nic: HardwareAddress): readonly LeaseReport[] {
    return list(this.#ofNic.get(nic)).flatMap((address) => this.get(address) ?? []);
  }

  #note(address: IpAddress, nic: HardwareAddress | null): void {
    if (nic === null) return;
    const known = this.#ofNic.get(nic);
    this.#ofNic.set(nic, known === undefined ? address : [...list(known), address]);
    if (known === undefined) this.#follower?.came(nic);
  }

  #forget(address: IpAddress, nic: HardwareAddress | null): void {
    if (nic === null) return;
    const [first, ...rest] = list(this.#ofNic.get(nic)).filter((other) => other !== address);
    if (first === undefined) {
      this.#ofNic.delete(nic);
      this.#follower?.went(nic);
    } else this.#ofNic.set(nic, rest.length === 0 ? first : [first, ...rest]);
  }
}

/** The leases of that NIC; by the index of a {@link RackLeases}, in any other map by looking through it. */
export function leasesOfNic(leases: ReadonlyMap<IpAddress, LeaseReport>, nic: HardwareAddress): readonly LeaseReport[] {
  if (leases instanceof RackLeases) return leases.ofNic(nic);
  return [...leases.values()].filter(({ hardwareAddress }) => hardwareAddress === nic);
}

function list(addresses: IpAddress | readonly IpAddress[] | undefined): readonly IpAddress[] {
  if (addresses === undefined) return [];
  return typeof addresses === "string" ? [addresses] : addresses;
}
