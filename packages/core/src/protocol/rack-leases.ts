import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { LeaseReport } from "./messages.js";

/**
 * A rack's leases by address, which can be asked by NIC, too: every request about a machine asks where its NICs were seen, and must not look
 * through the tens of thousands of leases that a rack may have.
 */
export class RackLeases extends Map<IpAddress, LeaseReport> {
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
    this.#ofNic.clear();
    super.clear();
  }

  /** All leases of a NIC, over or not. */
  ofNic(nic: HardwareAddress): readonly LeaseReport[] {
    return list(this.#ofNic.get(nic)).flatMap((address) => this.get(address) ?? []);
  }

  #note(address: IpAddress, nic: HardwareAddress | null): void {
    if (nic === null) return;
    const known = this.#ofNic.get(nic);
    this.#ofNic.set(nic, known === undefined ? address : [...list(known), address]);
  }

  #forget(address: IpAddress, nic: HardwareAddress | null): void {
    if (nic === null) return;
    const [first, ...rest] = list(this.#ofNic.get(nic)).filter((other) => other !== address);
    if (first === undefined) this.#ofNic.delete(nic);
    else this.#ofNic.set(nic, rest.length === 0 ? first : [first, ...rest]);
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
