import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { LeaseReport } from "./messages.js";

/** Is told of every address and NIC that comes into a table of leases or leaves it. */
export interface LeaseWatcher {
  address(address: IpAddress, isThere: boolean): void;
  nic(nic: HardwareAddress, isThere: boolean): void;
}

/**
 * A rack's leases by address, which can be asked by NIC, too: every request about a machine asks where its NICs were seen, and must not look
 * through the tens of thousands of leases that a rack may have.
 */
export class RackLeases extends Map<IpAddress, LeaseReport> {
  /** Most NICs have one lease; a list for each would be most of the memory. */
  readonly #ofNic = new Map<HardwareAddress, IpAddress | readonly IpAddress[]>();
  #watcher: LeaseWatcher | null = null;

  static from(leases: Iterable<LeaseReport>): RackLeases {
    const table = new RackLeases();
    for (const lease of leases) table.set(lease.address, lease);
    return table;
  }

  /** One at a time. It is told of all that is there now as if it came. */
  watch(watcher: LeaseWatcher): void {
    this.unwatch();
    this.#watcher = watcher;
    this.#tell(true);
  }

  /** The watcher is told of all that is there as if it left, and of nothing from then on. */
  unwatch(): void {
    this.#tell(false);
    this.#watcher = null;
  }

  override set(address: IpAddress, lease: LeaseReport): this {
    const before = this.get(address);
    const nic = before?.hardwareAddress ?? null;
    if (nic !== lease.hardwareAddress) {
      this.#forget(address, nic);
      this.#note(address, lease.hardwareAddress);
    }
    if (before === undefined) this.#watcher?.address(address, true);
    return super.set(address, lease);
  }

  override delete(address: IpAddress): boolean {
    this.#forget(address, this.get(address)?.hardwareAddress ?? null);
    const was = super.delete(address);
    if (was) this.#watcher?.address(address, false);
    return was;
  }

  override clear(): void {
    this.#tell(false);
    this.#ofNic.clear();
    super.clear();
  }

  /** All leases of a NIC, over or not. */
  ofNic(nic: HardwareAddress): readonly LeaseReport[] {
    return list(this.#ofNic.get(nic)).flatMap((address) => this.get(address) ?? []);
  }

  #tell(isThere: boolean): void {
    if (this.#watcher === null) return;
    for (const address of this.keys()) this.#watcher.address(address, isThere);
    for (const nic of this.#ofNic.keys()) this.#watcher.nic(nic, isThere);
  }

  #note(address: IpAddress, nic: HardwareAddress | null): void {
    if (nic === null) return;
    const known = this.#ofNic.get(nic);
    this.#ofNic.set(nic, known === undefined ? address : [...list(known), address]);
    if (known === undefined) this.#watcher?.nic(nic, true);
  }

  #forget(address: IpAddress, nic: HardwareAddress | null): void {
    if (nic === null) return;
    const [first, ...rest] = list(this.#ofNic.get(nic)).filter((other) => other !== address);
    if (first !== undefined) {
      this.#ofNic.set(nic, rest.length === 0 ? first : [first, ...rest]);
    } else if (this.#ofNic.delete(nic)) this.#watcher?.nic(nic, false);
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
