import fc from "fast-check";
import { expect, it } from "vitest";
import { PartSharer, shareParts } from "./share.js";

const plain = { noNullPrototype: true };
const item = fc.record({ a: fc.integer({ min: 0, max: 3 }), b: fc.option(fc.constantFrom("x", "y"), { nil: undefined }) }, plain);
const value = fc.record(
  { list: fc.array(item, { maxLength: 90 }), nested: fc.record({ deep: fc.array(fc.integer({ max: 3 })) }, plain), c: item },
  plain,
);

it("is the new value, whatever the old one was, and the old one where they are equal", () => {
  fc.assert(
    fc.property(value, value, (before, after) => {
      const sharer = new PartSharer();
      for (let n = 0; n < 2; n++) {
        const shared = sharer.share(before, after);
        expect(shared).toStrictEqual(after);
        expect(sharer.share(shared, structuredClone(after))).toBe(shared);
        expect(sharer.share(shared, after)).toBe(shared);
      }
    }),
  );
});

it("keeps the parts that are equal, where something is put in, taken out or changed", () => {
  const before = { list: Array.from({ length: 100 }, (_, n) => ({ n })), same: { deep: [1] } };
  const after = structuredClone(before);
  after.list.splice(50, 1, { n: 1_000 }, { n: 1_001 });
  after.list.splice(20, 1);
  const shared = shareParts(before, after);
  expect(shared).toEqual(after);
  expect(shared.same).toBe(before.same);
  expect(shared.list.filter((part) => !before.list.includes(part))).toEqual([{ n: 1_000 }, { n: 1_001 }]);
});

it.each([
  [{ a: 1 }, { a: 1, b: undefined }],
  [{ a: 1, b: undefined }, { a: 1 }],
  [[1], { 0: 1 }],
  [{ 0: 1 }, [1]],
  [null, { a: 1 }],
  [{ a: 1 }, null],
])("tells %j from %j", (before, after) => {
  expect(shareParts<unknown>(before, after)).toBe(after);
});
