import fc from "fast-check";
import { expect, test } from "vitest";
import { addressFromValue, addressValue, ipAddress, type IpAddress } from "../address/ip.js";
import { ipPrefix, prefixRange, usableRange, type IpRange } from "../address/prefix.js";
import { mergeRanges } from "../address/ranges.js";
import { FreeAddresses } from "./free-addresses.js";

const at = (base: string, offset: bigint): IpAddress => addressFromValue(6, addressValue(ipAddress(base)) + offset);
const range = (first: IpAddress, last: IpAddress): IpRange => ({ first, last });

function over(prefix: string, aside: readonly IpRange[] = [], taken: readonly IpAddress[] = []): FreeAddresses {
  return new FreeAddresses(ipPrefix(prefix), { aside: mergeRanges(aside), taken: () => taken });
}

test("the lowest first; half of a /64 set aside costs no look at its addresses", () => {
  const half = range(ipAddress("2001:db8::"), ipAddress("2001:db8::7fff:ffff:ffff:ffff"));
  let asked = 0;
  const free = over("2001:db8::/64", [half], [ipAddress("2001:db8::8000:0:0:0")]);
  const next = (): IpAddress | null => free.next(() => (asked += 1) > 1_000_000);
  expect(next()).toBe("2001:db8::8000:0:0:1");
  free.take(ipAddress("2001:db8::8000:0:0:1"));
  expect(next()).toBe("2001:db8::8000:0:0:2");
  expect(asked).toBe(2);
});

test("goes on behind a stretch that is full, and stays within what may be given", () => {
  const base = "2001:db8::";
  const taken = Array.from({ length: 65_540 }, (_, index) => at(base, BigInt(index + 1)));
  expect(over("2001:db8::/64", [], taken).next(() => false)).toBe(at(base, 65_541n));
  const behind = range(at(base, 65_537n), at(base, 2n ** 40n));
  expect(over("2001:db8::/64", [behind], taken.slice(0, 65_536)).next(() => false)).toBe(at(base, 2n ** 40n + 1n));
  const all = over("2001:db8::/127", [], [ipAddress("2001:db8::"), ipAddress("2001:db8::1")]);
  expect(all.next(() => false)).toBeNull();
  expect(
    over("2001:db8::/64", [range(ipAddress("2001:db8::"), ipAddress("2001:db8::ffff:ffff:ffff:ffff"))]).next(() => false),
  ).toBe(null);
});

test("what was only observed as taken is asked again in the next turn, in whichever stretch the search is", () => {
  const free = over("2001:db8::/110");
  const blocked = new Set(Array.from({ length: 70_000 }, (_, index) => at("2001:db8::", BigInt(index + 1))));
  expect(free.next((address) => blocked.has(address))).toBe(at("2001:db8::", 70_001n));
  expect(free.met).toBeGreaterThan(0);
  free.beginTurn();
  expect(free.next(() => false)).not.toBeNull();
});

test("gives every usable address once and then none, in subnets of both families with any gaps", () => {
  const gap = fc.tuple(fc.nat(300), fc.nat(60));
  fc.assert(
    fc.property(
      fc.constantFrom("10.0.0.0/24", "2001:db8::/120", "2001:db8::/127", "192.0.2.7/32"),
      fc.array(gap, { maxLength: 4 }),
      (text, gaps) => {
        const prefix = ipPrefix(text);
        const { first, last } = prefixRange(prefix);
        const family = first.includes(":") ? 6 : 4;
        const size = addressValue(last) - addressValue(first) + 1n;
        const address = (offset: bigint): IpAddress => addressFromValue(family, addressValue(first) + offset);
        const aside = gaps.map(([from, length]) => {
          const start = BigInt(from) % size;
          const end = start + BigInt(length) < size ? start + BigInt(length) : size - 1n;
          return range(address(start), address(end));
        });
        const usable = usableRange(prefix);
        const expected: IpAddress[] = [];
        for (let value = addressValue(usable.first); value <= addressValue(usable.last); value++)
          if (!aside.some((one) => addressValue(one.first) <= value && value <= addressValue(one.last)))
            expected.push(addressFromValue(family, value));
        const free = over(text, aside);
        const given: IpAddress[] = [];
        for (let next = free.next(() => false); next !== null; next = free.next(() => false)) {
          given.push(next);
          free.take(next);
        }
        expect(given).toEqual(expected);
        const [back] = expected;
        if (back === undefined) return;
        free.giveBack(back);
        expect(free.next(() => false)).toBe(back);
      },
    ),
  );
});
