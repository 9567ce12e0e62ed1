/** Lists of at least this many items are remembered: whoever asks for the same two again is answered without looking through them. */
const LONG = 64;

/**
 * Makes new values of the very objects of former ones wherever the two are equal. What is made anew at every pass and hardly changes is then told
 * apart by identity, and what was derived of the parts stays valid. All of it is plain data that nobody changes.
 */
export class PartSharer {
  readonly #known = new WeakMap<readonly unknown[], WeakMap<readonly unknown[], readonly unknown[]>>();

  /** The value of `after`, made of parts of `before`. */
  share<T>(before: unknown, after: T): T {
    return this.#share(before, after) as T;
  }

  #share(before: unknown, after: unknown): unknown {
    if (before === after || !isObject(before) || !isObject(after)) return after;
    if (Array.isArray(after)) return Array.isArray(before) ? this.#shareList(before, after) : after;
    return Array.isArray(before) ? after : this.#shareMembers(before, after);
  }

  #shareMembers(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
    let isSame = true;
    let copy: Record<string, unknown> | null = null;
    for (const key in after) {
      const member = after[key];
      const shared = this.#share(before[key], member);
      if (shared !== before[key] || !(key in before)) isSame = false;
      if (shared !== member) (copy ??= { ...after })[key] = shared;
    }
    if (!isSame) return copy ?? after;
    for (const key in before) if (!(key in after)) return copy ?? after;
    return before;
  }

  #shareList(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
    if (after.length < LONG) return this.#shareItems(before, after);
    const known = this.#known.get(after) ?? new WeakMap<readonly unknown[], readonly unknown[]>();
    this.#known.set(after, known);
    const shared = known.get(before) ?? this.#shareItems(before, after);
    known.set(before, shared);
    known.set(shared, shared); // the next time, what came of it is what was before
    return shared;
  }

  /** What stands at the same place from either end; between the two what is equal wherever it stands, or item by item. */
  #shareItems(before: readonly unknown[], after: readonly unknown[]): readonly unknown[] {
    const shared = [...after];
    const most = Math.min(before.length, after.length);
    let head = 0;
    while (head < most && this.#takes(before[head], shared, head)) head++;
    if (head === before.length && head === after.length) return before;
    let tail = 0;
    while (tail < most - head && this.#takes(before[before.length - 1 - tail], shared, after.length - 1 - tail)) tail++;
    const [left, right] = [before.length - head - tail, after.length - head - tail];
    if (left === 0 || right === 0) return shared;
    // Long lists are of small items, short ones of large.
    if (after.length >= LONG || left !== right) shareAnywhere(before.slice(head, head + left), shared, head);
    else for (let n = head; n < head + left; n++) shared[n] = this.#share(before[n], after[n]);
    return shared;
  }

  /** Puts the one from before in the place, if it is the same. */
  #takes(before: unknown, shared: unknown[], at: number): boolean {
    if (this.#share(before, shared[at]) !== before) return false;
    shared[at] = before;
    return true;
  }
}

/** The value of `after`, made of parts of `before`: see {@link PartSharer}. */
export function shareParts<T>(before: unknown, after: T): T {
  return new PartSharer().share(before, after);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object";
}

function shareAnywhere(before: readonly unknown[], shared: unknown[], from: number): void {
  const known = new Map(before.map((item) => [JSON.stringify(item), item]));
  for (let n = from; n < shared.length; n++) {
    const item = known.get(JSON.stringify(shared[n]));
    if (item !== undefined) shared[n] = item;
  }
}
