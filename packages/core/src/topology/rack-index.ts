import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import { rackLabel } from "../dns/compose.js";
import type { HostInterface } from "../interface/model.js";
import { IndexOf } from "../ipam/index-of.js";
import type { LeaseWatcher, RackLeases } from "../protocol/rack-leases.js";
import { interfacesByAddress, type RackFinder } from "./rack-finder.js";
import type { RackView } from "./rack-view.js";

/** What of a rack is indexed, as it is now. */
export interface IndexedRack {
  readonly name: string;
  readonly interfaces: readonly HostInterface[];
  readonly leases: RackLeases;
}

/** Where the newest views come from. */
export interface RackViews {
  /** In the order of their names. */
  views(): readonly RackView[];
  view(id: string): RackView | null;
}

/**
 * Finds racks at a cost that does not grow with their number, nor with what they report: every allocation asks who has its address and who saw its machine, and a
 * region has thousands of racks. Leases are followed as their tables change.
 */
export class RackIndex implements RackFinder {
  readonly #source: RackViews;
  readonly #indexed = new Map<string, IndexedRack>();
  readonly #byAddress = new IndexOf<IpAddress, string>();
  readonly #byLease = new IndexOf<IpAddress, string>();
  readonly #byNic = new IndexOf<HardwareAddress, string>();
  readonly #byLabel = new IndexOf<string, string>();

  constructor(source: RackViews) {
    this.#source = source;
  }

  all(): readonly RackView[] {
    return this.#source.views();
  }

  holding(address: IpAddress): readonly RackView[] {
    return this.#views(this.#byAddress.of(address), this.#byLease.of(address));
  }

  seeing(nics: readonly HardwareAddress[]): readonly RackView[] {
    return this.#views(...nics.map((nic) => this.#byNic.of(nic)));
  }

  labelled(label: string): readonly RackView[] {
    return this.#views(this.#byLabel.of(label));
  }

  /** Takes a new rack or a changed one in; nothing happens where nothing of it was replaced. */
  put(id: string, rack: IndexedRack): void {
    const before = this.#indexed.get(id);
    if (before?.name === rack.name && before.interfaces === rack.interfaces && before.leases === rack.leases) return;
    this.#indexed.set(id, { name: rack.name, interfaces: rack.interfaces, leases: rack.leases });
    if (before?.name !== rack.name) {
      if (before !== undefined) this.#byLabel.remove(rackLabel(before.name), id);
      this.#byLabel.add(rackLabel(rack.name), id);
    }
    if (before?.interfaces !== rack.interfaces) {
      for (const address of addressesOf(before)) this.#byAddress.remove(address, id);
      for (const address of addressesOf(rack)) this.#byAddress.add(address, id);
    }
    if (before?.leases !== rack.leases) {
      before?.leases.unwatch();
      rack.leases.watch(this.#watcher(id));
    }
  }

  remove(id: string): void {
    const before = this.#indexed.get(id);
    if (before === undefined) return;
    this.#indexed.delete(id);
    this.#byLabel.remove(rackLabel(before.name), id);
    for (const address of addressesOf(before)) this.#byAddress.remove(address, id);
    before.leases.unwatch();
  }

  #watcher(id: string): LeaseWatcher {
    return {
      address: (address, isThere) => (isThere ? this.#byLease.add(address, id) : this.#byLease.remove(address, id)),
      nic: (nic, isThere) => (isThere ? this.#byNic.add(nic, id) : this.#byNic.remove(nic, id)),
    };
  }

  /** Nearly always none or one. */
  #views(...found: readonly (readonly string[])[]): readonly RackView[] {
    const ids = found.flat();
    const views = (ids.length < 2 ? ids : [...new Set(ids)]).flatMap((id) => this.#source.view(id) ?? []);
    return views.length < 2 ? views : views.sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

function addressesOf(rack: IndexedRack | undefined): Iterable<IpAddress> {
  return rack === undefined ? [] : interfacesByAddress(rack.interfaces).keys();
}
