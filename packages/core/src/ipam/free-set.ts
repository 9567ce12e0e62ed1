import { assert } from "../problem.js";

/** An inclusive run of positions. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/**
 * Which of the positions 0..size-1 are free: a bitmap with a summary bitmap above it, and so on up to one word. Finding the next free
 * position costs one word a level (five levels for a /8), however full the set is and wherever the gaps lie.
 */
export class FreeSet {
  /** `levels[0]` has a bit a position; a bit of `levels[n + 1]` is set while its word of `levels[n]` is not zero. */
  private readonly levels: readonly Uint32Array[];
  private free: number;

  constructor(size: number, taken: readonly Span[] = []) {
    assert(Number.isInteger(size) && size >= 1 && size <= 2 ** 32, `size of a free set: ${size}`);
    const bottom = new Uint32Array(Math.ceil(size / 32)).fill(0xffffffff);
    clearSpan(bottom, { first: size, last: bottom.length * 32 - 1 });
    for (const span of taken) clearSpan(bottom, span);
    this.levels = summaries(bottom);
    this.free = countBits(bottom);
  }

  /** How many positions are free. */
  get count(): number {
    return this.free;
  }

  has(position: number): boolean {
    return (wordAt(this.levels[0], position >>> 5) & (1 << (position & 31))) !== 0;
  }

  add(position: number): void {
    if (this.has(position)) return;
    this.free += 1;
    let index = position;
    for (const words of this.levels) {
      const word = wordAt(words, index >>> 5);
      words[index >>> 5] = word | (1 << (index & 31));
      if (word !== 0) return;
      index >>>= 5;
    }
  }

  remove(position: number): void {
    if (!this.has(position)) return;
    this.free -= 1;
    let index = position;
    for (const words of this.levels) {
      const word = wordAt(words, index >>> 5) & ~(1 << (index & 31));
      words[index >>> 5] = word;
      if (word !== 0) return;
      index >>>= 5;
    }
  }

  /** The lowest free position that is not below `from`; -1 when there is none. */
  nextFrom(from: number): number {
    let index = from;
    for (let level = 0; level < this.levels.length; level++) {
      const words = this.levels[level];
      const position = index >>> 5;
      if (words === undefined || position >= words.length) return -1;
      const word = wordAt(words, position) & (0xffffffff << (index & 31));
      if (word !== 0) return this.descend(level, position * 32 + lowestBit(word));
      index = position + 1;
    }
    return -1;
  }

  private descend(level: number, found: number): number {
    let index = found;
    for (let below = level - 1; below >= 0; below--) index = index * 32 + lowestBit(wordAt(this.levels[below], index));
    return index;
  }
}

function wordAt(words: Uint32Array | undefined, index: number): number {
  return words?.[index] ?? 0;
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}

function clearSpan(words: Uint32Array, { first, last }: Span): void {
  for (let index = first >>> 5; index <= last >>> 5 && index < words.length; index++) {
    const from = Math.max(first - index * 32, 0);
    const to = Math.min(last - index * 32, 31);
    if (from > to) continue;
    const mask = ((0xffffffff >>> (31 - (to - from))) << from) >>> 0;
    words[index] = wordAt(words, index) & ~mask;
  }
}

function summaries(bottom: Uint32Array): Uint32Array[] {
  const levels = [bottom];
  for (let below = bottom; below.length > 1; ) {
    const above = new Uint32Array(Math.ceil(below.length / 32));
    for (let index = 0; index < below.length; index++) {
      if (below[index] !== 0) above[index >>> 5] = wordAt(above, index >>> 5) | (1 << (index & 31));
    }
    levels.push(above);
    below = above;
  }
  return levels;
}

function countBits(words: Uint32Array): number {
  let count = 0;
  for (const word of words) {
    let bits = word - ((word >>> 1) & 0x55555555);
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
    count += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
}
