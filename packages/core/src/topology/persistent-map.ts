/** One key and its value. */
interface Leaf<V> {
  readonly key: string;
  readonly hash: number;
  readonly value: V;
}

/** Keys with equal hashes; small, searched in order. */
interface Bucket<V> {
  readonly hash: number;
  readonly leaves: readonly Leaf<V>[];
}

/** A level of the trie: `bitmap` says which of 32 branches exist, `slots` holds those. */
interface Branch<V> {
  readonly bitmap: number;
  readonly slots: readonly Node<V>[];
}

type Node<V> = Leaf<V> | Bucket<V> | Branch<V>;

const BITS = 5;
const MASK = 31;
const EMPTY: Branch<never> = { bitmap: 0, slots: [] };

/**
 * A map that is never changed: `set` and `delete` answer another map and share all but the path to the key (a hash array mapped trie, Bagwell
 * 2001). Their cost hardly grows with the size, so one rack's report costs the same in a fleet of 50 and of 5,000. Iteration order depends on the
 * keys alone.
 */
export class PersistentMap<V> {
  readonly size: number;
  private readonly root: Branch<V>;

  private constructor(root: Branch<V>, size: number) {
    this.root = root;
    this.size = size;
  }

  static empty<V>(): PersistentMap<V> {
    return new PersistentMap<V>(EMPTY, 0);
  }

  get(key: string): V | undefined {
    const hash = hashOf(key);
    let node: Node<V> | undefined = this.root;
    for (let shift = 0; node !== undefined && "bitmap" in node; shift += BITS) node = child(node, hash, shift);
    if (node === undefined) return undefined;
    const leaf = "leaves" in node ? node.leaves.find((entry) => entry.key === key) : node;
    return leaf?.key === key ? leaf.value : undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: V): PersistentMap<V> {
    const known = this.get(key);
    if (known === value) return this;
    const leaf: Leaf<V> = { key, hash: hashOf(key), value };
    return new PersistentMap(insert(this.root, leaf, 0), known === undefined ? this.size + 1 : this.size);
  }

  delete(key: string): PersistentMap<V> {
    if (!this.has(key)) return this;
    return new PersistentMap(removeFrom(this.root, key, { hash: hashOf(key), shift: 0 }) ?? EMPTY, this.size - 1);
  }

  *entries(): IterableIterator<[string, V]> {
    for (const { key, value } of leavesOf(this.root)) yield [key, value];
  }

  *values(): IterableIterator<V> {
    for (const { value } of leavesOf(this.root)) yield value;
  }
}

/** FNV-1a, 32 bits, with a final mix so that neighbouring addresses spread over the upper levels too. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function child<V>(branch: Branch<V>, hash: number, shift: number): Node<V> | undefined {
  const bit = bitAt(hash, shift);
  return (branch.bitmap & bit) === 0 ? undefined : branch.slots[indexOf(branch.bitmap, bit)];
}

/** Past the 32nd bit all keys that got so far have equal hashes and share one bucket. */
function bitAt(hash: number, shift: number): number {
  return 1 << ((hash >>> shift) & MASK);
}

/** How many branches stand before this one. */
function indexOf(bitmap: number, bit: number): number {
  let before = bitmap & (bit - 1);
  before -= (before >>> 1) & 0x55555555;
  before = (before & 0x33333333) + ((before >>> 2) & 0x33333333);
  return Math.imul((before + (before >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function insert<V>(branch: Branch<V>, leaf: Leaf<V>, shift: number): Branch<V> {
  const bit = bitAt(leaf.hash, shift);
  const index = indexOf(branch.bitmap, bit);
  const present = branch.slots[index];
  if ((branch.bitmap & bit) === 0 || present === undefined) {
    return { bitmap: branch.bitmap | bit, slots: [...branch.slots.slice(0, index), leaf, ...branch.slots.slice(index)] };
  }
  return { bitmap: branch.bitmap, slots: branch.slots.with(index, joined(present, leaf, shift + BITS)) };
}

function joined<V>(present: Node<V>, leaf: Leaf<V>, shift: number): Node<V> {
  if ("bitmap" in present) return insert(present, leaf, shift);
  if (present.hash !== leaf.hash) {
    const lone: Branch<V> = { bitmap: bitAt(present.hash, shift), slots: [present] };
    return insert(lone, leaf, shift);
  }
  const others = ("leaves" in present ? present.leaves : [present]).filter(({ key }) => key !== leaf.key);
  if (others.length === 0) return leaf;
  return { hash: leaf.hash, leaves: [...others, leaf].sort((a, b) => (a.key < b.key ? -1 : 1)) };
}

/** The branch without the key, or null when nothing is left of it. The key is known to be there. */
function removeFrom<V>(branch: Branch<V>, key: string, at: { readonly hash: number; readonly shift: number }): Branch<V> | null {
  const bit = bitAt(at.hash, at.shift);
  const index = indexOf(branch.bitmap, bit);
  const rest = without(branch.slots[index], key, { hash: at.hash, shift: at.shift + BITS });
  if (rest !== null) return { bitmap: branch.bitmap, slots: branch.slots.with(index, rest) };
  const slots = branch.slots.toSpliced(index, 1);
  return slots.length === 0 ? null : { bitmap: branch.bitmap & ~bit, slots };
}

function without<V>(
  node: Node<V> | undefined,
  key: string,
  at: { readonly hash: number; readonly shift: number },
): Node<V> | null {
  if (node === undefined) return null;
  if ("bitmap" in node) return removeFrom(node, key, at);
  if (!("leaves" in node)) return null;
  const leaves = node.leaves.filter((leaf) => leaf.key !== key);
  return leaves.length === 1 && leaves[0] !== undefined ? leaves[0] : { hash: node.hash, leaves };
}

function* leavesOf<V>(node: Node<V>): IterableIterator<Leaf<V>> {
  if ("bitmap" in node) for (const slot of node.slots) yield* leavesOf(slot);
  else if ("leaves" in node) yield* node.leaves;
  else yield node;
}
