import { formatHex } from "../octets.js";
import { equalOctets } from "../octets.js";
import type { Lease6, Lease6Type } from "../model.js";

/** The IA that a lease belongs to: (type, IAID, DUID). */
export function iaKeyOf(ia: { readonly type: Lease6Type; readonly iaid: number; readonly duid: Uint8Array }): string {
  return `${ia.type} ${ia.iaid} ${formatHex(ia.duid)}`;
}

export interface Lease6Record {
  readonly ia: string;
  readonly lease: Lease6;
}

/** The IPv6 leases by address or prefix, and by the IA that holds them. */
export class Lease6Records {
  readonly records = new Map<string, Lease6Record>();
  readonly #addressesOfIa = new Map<string, Set<string>>();
  readonly dirty: [Set<string>, Set<string>, Set<string>] = [new Set(), new Set(), new Set()];

  /** An IA block replaces the whole IA; an address in it that another IA had is that IA's no more (dhcpd keeps the later one). */
  replaceIa(ia: string, leases: readonly Lease6[]): void {
    const before = this.#addressesOfIa.get(ia) ?? new Set<string>();
    const after = new Set(leases.map((lease) => lease.key));
    for (const key of before) if (!after.has(key)) this.#remove(key);
    for (const lease of leases) this.#set(ia, lease);
    if (after.size > 0) this.#addressesOfIa.set(ia, after);
    else this.#addressesOfIa.delete(ia);
  }

  #set(ia: string, lease: Lease6): void {
    const old = this.records.get(lease.key);
    if (old !== undefined && old.ia !== ia) this.#disown(old.ia, lease.key);
    if (old?.ia === ia && sameLease6(old.lease, lease)) return;
    this.records.set(lease.key, { ia, lease });
    this.#mark(lease.key);
  }

  #disown(ia: string, key: string): void {
    const keys = this.#addressesOfIa.get(ia);
    keys?.delete(key);
    if (keys?.size === 0) this.#addressesOfIa.delete(ia);
  }

  #remove(key: string): void {
    this.records.delete(key);
    this.#mark(key);
  }

  #mark(key: string): void {
    for (const reader of this.dirty) reader.add(key);
  }

  takeDirty(reader: 0 | 1 | 2): ReadonlySet<string> {
    const taken = this.dirty[reader];
    if (taken.size > 0) this.dirty[reader] = new Set();
    return taken;
  }
}

export function sameLease6(a: Lease6, b: Lease6): boolean {
  return (
    a.key === b.key &&
    a.type === b.type &&
    a.iaid === b.iaid &&
    a.bindingState === b.bindingState &&
    a.cltt === b.cltt &&
    a.ends === b.ends &&
    a.preferredLife === b.preferredLife &&
    a.maxLife === b.maxLife &&
    equalOctets(a.duid, b.duid)
  );
}
