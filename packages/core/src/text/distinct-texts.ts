/** Steps for each text beyond which the texts are taken for chosen to collide. */
const STEPS_MAX = 16;

/**
 * Whether no two of the items have the same text. A table of places instead of a set of strings: half the time for tens of thousands, which are
 * asked about before every start of a daemon.
 */
export function areDistinct<Item>(items: readonly Item[], textOf: (item: Item) => string): boolean {
  const count = items.length;
  const table = new Int32Array(1 << (33 - Math.clz32(count)));
  const hashes = new Int32Array(count);
  const mask = table.length - 1;
  let steps = count * STEPS_MAX;
  for (let n = 0; n < count; n++) {
    const text = textOf(items[n] as Item);
    const hash = hashOf(text);
    hashes[n] = hash;
    let at = hash & mask;
    for (let place = table[at] ?? 0; place > 0; place = table[at] ?? 0) {
      if (hashes[place - 1] === hash && textOf(items[place - 1] as Item) === text) return false;
      if (--steps < 0) return new Set(items.map(textOf)).size === count;
      at = (at + 1) & mask;
    }
    table[at] = n + 1;
  }
  return true;
}

function hashOf(text: string): number {
  const { length } = text;
  let hash = 0;
  for (let at = 0; at < length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  // The low bits of the sum hardly know the first characters.
  hash = Math.imul(hash, 0x9e3779b1);
  return hash ^ (hash >>> 15);
}
