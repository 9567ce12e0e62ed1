import fc from "fast-check";
import { expect, test } from "vitest";
import { RowIndex } from "./row-index.js";
import { textHash } from "./text-hash.js";

const steps = fc.array(
  fc.record({ key: fc.integer({ min: 0, max: 400 }), row: fc.integer({ min: 0, max: 5 }), add: fc.boolean() }),
  {
    maxLength: 1500,
  },
);

/** Hashes of which many are equal, or equal in the bits that choose the segment or the slot. */
const HASHES: Readonly<Record<string, (key: number) => number>> = {
  spread: (key) => textHash(String(key)),
  "three values": (key) => textHash(String(key % 3)),
  "one segment": (key) => key,
  "one slot": (key) => (key << 16) >>> 0,
};

test.each(Object.keys(HASHES))("holds what a plain map holds, over any additions and removals: %s", (name) => {
  fc.assert(
    fc.property(steps, (list) => {
      const rowsOf = new Map<number, Set<number>>();
      const keyOfRow = new Map<number, Set<number>>();
      const index = new RowIndex<number>(HASHES[name] ?? (() => 0), (row, key) => keyOfRow.get(row)?.has(key) === true);
      for (const { key, row, add } of list) {
        const known = rowsOf.get(key) ?? new Set();
        rowsOf.set(key, known);
        const keys = keyOfRow.get(row) ?? new Set();
        keyOfRow.set(row, keys);
        if (add === known.has(row)) continue;
        if (add) index.add(key, row);
        else index.remove(key, row);
        if (add) known.add(row);
        else known.delete(row);
        if (add) keys.add(key);
        else keys.delete(key);
        expect(known.has(index.find(key)) || (known.size === 0 && index.find(key) === -1)).toBe(true);
      }
      for (const [key, known] of rowsOf) expect(new Set(index.all(key))).toEqual(known);
      const all = [...rowsOf.values()].flatMap((known) => [...known]).sort();
      expect([...index.rows()].sort()).toEqual(all);
      expect(index.size).toBe(all.length);
    }),
    { numRuns: 60 },
  );
});

test("grows to many segments and empties again, and never loses a row", () => {
  const index = new RowIndex<number>(
    (key) => textHash(String(key)),
    (row, key) => row === key,
  );
  const count = 60_000;
  for (let row = 0; row < count; row++) index.add(row, row);
  for (let row = 0; row < count; row++) if (index.find(row) !== row) expect.unreachable(`row ${row} is lost`);
  expect(index.find(count)).toBe(-1);
  for (let row = 0; row < count; row += 2) index.remove(row, row);
  for (let row = 0; row < count; row++) if (index.find(row) !== (row % 2 === 0 ? -1 : row)) expect.unreachable(`row ${row}`);
  for (let row = 1; row < count; row += 2) index.remove(row, row);
  expect([index.size, [...index.rows()]]).toEqual([0, []]);
});
