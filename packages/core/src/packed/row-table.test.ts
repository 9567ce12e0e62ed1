import fc from "fast-check";
import { expect, test } from "vitest";
import { RowTable, type RowCodec } from "./row-table.js";

const codec: RowCodec<string> = { write: (text, to) => to.text(text), read: (from) => from.text() };

const step = fc.record({
  remove: fc.integer({ min: 0, max: 60 }),
  text: fc.oneof(
    fc.string(),
    fc.string({ unit: "grapheme" }),
    fc.nat(20_000).map((length) => "x".repeat(length)),
  ),
});

test("rows are what was put there, whatever was put and removed before", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const table = new RowTable(codec);
      const rows = new Map<number, string>();
      for (const { remove, text } of steps) {
        if (rows.has(remove)) {
          table.remove(remove);
          rows.delete(remove);
        }
        const row = table.add(text);
        expect(rows.has(row)).toBe(false);
        rows.set(row, text);
      }
      expect([...table.rows()]).toEqual([...rows.keys()].sort((a, b) => a - b));
      for (const [row, text] of rows) expect(table.get(row)).toBe(text);
      expect(table.size).toBe(rows.size);
    }),
    { numRuns: 60 },
  );
});

test("gives the room of what is gone to what comes, and goes on when most of it is gone", () => {
  const table = new RowTable(codec);
  const text = (row: number): string => `row ${row} `.repeat(12);
  const many = 40_000;
  const rows = Array.from({ length: many }, (_, row) => table.add(text(row)));
  for (const row of rows) if (row % 5 !== 0) table.remove(row);
  const kept = [...table.rows()];
  expect(kept).toHaveLength(many / 5);
  for (const row of kept) if (table.get(row) !== text(row)) expect.unreachable(`row ${row}`);
  for (let row = 0; row < many; row++) table.add(text(row));
  expect(table.size).toBe(kept.length + many);
  for (const row of kept) if (table.get(row) !== text(row)) expect.unreachable(`row ${row}`);
});
