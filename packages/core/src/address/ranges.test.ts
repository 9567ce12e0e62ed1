import fc from "fast-check";
import { expect, test } from "vitest";
import { ipAddress, ipv4FromNumber, ipv4Number } from "./ip.js";
import { rangeContains, type IpRange } from "./prefix.js";
import { intersectRanges, mergeRanges, rangeSize } from "./ranges.js";

const BASE = ipv4Number(ipAddress("10.0.0.0"));
const anyRange = fc
  .tuple(fc.nat(200), fc.nat(40))
  .map(([first, length]): IpRange => ({ first: ipv4FromNumber(BASE + first), last: ipv4FromNumber(BASE + first + length) }));
const addresses = Array.from({ length: 260 }, (_, step) => ipv4FromNumber(BASE + step));

test("merged ranges hold the same addresses, sorted, and none touches the next", () => {
  fc.assert(
    fc.property(fc.array(anyRange, { maxLength: 8 }), (ranges) => {
      const merged = mergeRanges(ranges);
      const inside = addresses.filter((address) => ranges.some((range) => rangeContains(range, address)));
      expect(addresses.filter((address) => merged.some((range) => rangeContains(range, address)))).toEqual(inside);
      expect(merged.reduce((sum, range) => sum + rangeSize(range), 0n)).toBe(BigInt(inside.length));
      for (const [index, range] of merged.slice(1).entries()) {
        expect(ipv4Number(range.first)).toBeGreaterThan(ipv4Number(merged[index]?.last ?? range.first) + 1);
      }
    }),
  );
});

test("the intersection holds what both hold", () => {
  fc.assert(
    fc.property(anyRange, anyRange, (a, b) => {
      const both = intersectRanges(a, b);
      const expected = addresses.filter((address) => rangeContains(a, address) && rangeContains(b, address));
      expect(addresses.filter((address) => both !== null && rangeContains(both, address))).toEqual(expected);
    }),
  );
});

test("families do not mix", () => {
  const four = { first: ipAddress("0.0.0.0"), last: ipAddress("255.255.255.255") };
  const six = { first: ipAddress("::"), last: ipAddress("::ffff") };
  expect(intersectRanges(four, six)).toBeNull();
  expect(mergeRanges([six, four])).toEqual([four, six]);
});
