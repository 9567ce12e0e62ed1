/** An index from a key to all values that carry it, in the order in which they came. One value a key, the usual case, costs no set. */
export class IndexOf<Key, Value> {
  private readonly entries = new Map<Key, Value | Set<Value>>();

  of(key: Key): readonly Value[] {
    const entry = this.entries.get(key);
    if (entry === undefined) return [];
    return entry instanceof Set ? [...entry] : [entry];
  }

  add(key: Key, value: Value): void {
    const entry = this.entries.get(key);
    if (entry === undefined) this.entries.set(key, value);
    else if (entry instanceof Set) entry.add(value);
    else if (entry !== value) this.entries.set(key, new Set([entry, value]));
  }

  remove(key: Key, value: Value): void {
    const entry = this.entries.get(key);
    if (entry === value) this.entries.delete(key);
    if (!(entry instanceof Set)) return;
    entry.delete(value);
    const [only] = entry;
    if (entry.size === 1 && only !== undefined) this.entries.set(key, only);
  }
}
