import fc from "fast-check";
import { expect, test } from "vitest";
import { FreeSet } from "./free-set.js";

test("a fresh set gives its positions in order and then none", () => {
  const set = new FreeSet(3);
  expect([set.nextFrom(0), set.nextFrom(1), set.nextFrom(2), set.nextFrom(3)]).toEqual([0, 1, 2, -1]);
  expect(set.count).toBe(3);
});

test("agrees with a plain set of numbers over random histories and sizes", () => {
  const command = fc.tuple(fc.constantFrom("add", "remove", "next"), fc.nat(40_000));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40_000 }),
      fc.array(fc.tuple(fc.nat(40_000), fc.nat(500)), { maxLength: 5 }),
      fc.array(command, { maxLength: 200 }),
      (size, spans, commands) => {
        const taken = spans.map(([first, length]) => ({
          first: first % size,
          last: Math.min((first % size) + length, size - 1),
        }));
        const set = new FreeSet(size, taken);
        const model = new Set(Array.from({ length: size }, (_, position) => position));
        for (const { first, last } of taken) for (let position = first; position <= last; position++) model.delete(position);
        for (const [kind, number] of commands) {
          const position = number % size;
          if (kind === "add") {
            set.add(position);
            model.add(position);
          } else if (kind === "remove") {
            set.remove(position);
            model.delete(position);
          } else {
            expect(set.nextFrom(position)).toBe(lowestFrom(model, position, size));
          }
          expect(set.count).toBe(model.size);
          expect(set.has(position)).toBe(model.has(position));
        }
      },
    ),
    { numRuns: 60 },
  );
});

test("a /8 with one free address at the far end is searched in a few words", () => {
  const set = new FreeSet(2 ** 24, [{ first: 0, last: 2 ** 24 - 2 }]);
  expect(set.count).toBe(1);
  expect(set.nextFrom(0)).toBe(2 ** 24 - 1);
  set.remove(2 ** 24 - 1);
  expect(set.nextFrom(0)).toBe(-1);
});

function lowestFrom(model: ReadonlySet<number>, from: number, size: number): number {
  for (let position = from; position < size; position++) if (model.has(position)) return position;
  return -1;
}
