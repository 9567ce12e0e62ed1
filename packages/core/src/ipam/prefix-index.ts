import { addressBits, addressFamily, type IpAddress } from "../address/ip.js";
import { prefixAround, prefixLength, type IpPrefix } from "../address/prefix.js";
import { IndexOf } from "./index-of.js";

/** Values by their prefix, found by an address inside it: a look-up for each of the few lengths that occur, instead of a look at every prefix. */
export class PrefixIndex<Value> {
  private readonly byPrefix = new IndexOf<IpPrefix, Value>();
  /** How many values have a prefix of that length. */
  private readonly lengths = new Map<number, number>();

  add(prefix: IpPrefix, value: Value): void {
    this.byPrefix.add(prefix, value);
    const length = prefixLength(prefix);
    this.lengths.set(length, (this.lengths.get(length) ?? 0) + 1);
  }

  /** Of something that was added, once. */
  remove(prefix: IpPrefix, value: Value): void {
    this.byPrefix.remove(prefix, value);
    const length = prefixLength(prefix);
    const left = (this.lengths.get(length) ?? 0) - 1;
    if (left > 0) this.lengths.set(length, left);
    else this.lengths.delete(length);
  }

  /** With exactly that prefix. */
  at(prefix: IpPrefix): readonly Value[] {
    return this.byPrefix.of(prefix);
  }

  /** Whose prefix has the address in it. */
  around(address: IpAddress): readonly Value[] {
    const bits = addressBits(addressFamily(address));
    const found: Value[] = [];
    for (const length of this.lengths.keys()) if (length <= bits) found.push(...this.at(prefixAround(address, length)));
    return found;
  }
}
