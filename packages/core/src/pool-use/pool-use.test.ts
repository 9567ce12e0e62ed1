import { describe, expect, it } from "vitest";
import { ipAddress, ipv4FromNumber, ipv4Number } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import { PoolCount, poolProblems, shortPools } from "./pool-use.js";
import type { ServedPool } from "./served-pools.js";

const START = ipv4Number(ipAddress("10.1.0.0"));
const FREE = { state: "free", inUse: false, allocatable: true, starts: null } as const;
const USED = { state: "active", inUse: true, allocatable: false, starts: 100 } as const;

const at = (index: number) => ipv4FromNumber(START + index);

function poolOf(...runs: readonly (readonly [number, number])[]): ServedPool {
  const ranges = runs.map(([first, last]) => ({ first: at(first), last: at(last) }));
  return { subnetId: 1, prefix: ipPrefix("10.1.0.0/16"), interfaceName: "eth0", ranges };
}

function problemOf(total: number, used: number): string | undefined {
  const count = new PoolCount([poolOf([0, total - 1])]);
  for (let i = 0; i < used; i++) count.add({ ...USED, address: at(i) });
  return poolProblems(count.uses(), shortPools(count.uses(), new Set()))[0]?.message;
}

it.each([
  [1, 0, false],
  [1, 1, true],
  [2, 1, false],
  [2, 2, true],
  [5, 3, false],
  [5, 4, true],
  [75, 59, false],
  [75, 60, true],
  [100, 84, false], // 16 free
  [100, 85, true],
  [60_000, 59_984, false],
  [60_000, 59_985, true],
])("of %i addresses %i are used: reported is %s", (total, used, isReported) => {
  const message = `${used} of the ${total} addresses for unknown machines are used, ${total - used} free`;
  expect(problemOf(total, used)).toBe(isReported ? message : undefined);
});

it("a pool without an address is no alarm of its own", () => {
  const uses = new PoolCount([poolOf()]).uses();
  expect(poolProblems(uses, shortPools(uses, new Set([1])))).toEqual([]);
});

it("counts what nobody can be given, and nothing outside of the ranges", () => {
  const count = new PoolCount([poolOf([10, 19], [30, 39]), { ...poolOf([50, 50]), subnetId: 2 }]);
  const taken = [
    USED,
    { ...USED, starts: 200 },
    { ...FREE, state: "abandoned", allocatable: false },
    { ...FREE, state: "unknown", allocatable: false },
    { ...FREE, allocatable: false }, // reserved
  ] as const;
  const free = [
    FREE,
    { ...USED, inUse: false, allocatable: true, starts: 900 }, // lapsed
    { ...FREE, state: "backup", allocatable: false },
    { ...FREE, state: "expired", allocatable: false }, // until the partner agrees
  ] as const;
  taken.forEach((lease, i) => count.add({ ...lease, address: at(30 + i) }));
  free.forEach((lease, i) => count.add({ ...lease, address: at(10 + i) }));
  for (const outside of [9, 20, 29, 40, 49, 51]) count.add({ ...USED, address: at(outside) });
  count.add({ ...USED, address: ipAddress("2001:db8::1") });
  expect(count.uses()).toMatchObject([
    { total: 20n, used: 5, newestGrant: 200 },
    { total: 1n, used: 0, newestGrant: null },
  ]);
});

describe("the alarm of a pool", () => {
  /** Whether it rings after each of these counts, one after the other. */
  const rings = (total: number, ...counts: readonly number[]): boolean[] => {
    let short: ReadonlySet<number> = new Set();
    return counts.map((used) => {
      short = shortPools([{ pool: poolOf([0, total - 1]), total: BigInt(total), used, newestGrant: null }], short);
      return short.has(1);
    });
  };

  it("that rings goes on until less than 75 % are used, and begins anew at 80 %", () => {
    expect(rings(75, 59, 60, 59, 60, 57, 56, 59, 60)).toEqual([false, true, true, true, true, false, false, true]);
    expect(rings(5, 4, 3, 4)).toEqual([true, false, true]);
  });

  it("of a large pool goes on until 20 addresses are free again", () => {
    expect(rings(60_000, 59_984, 59_985, 59_984, 59_981, 59_980, 59_984)).toEqual([false, true, true, true, false, false]);
  });

  it("of another pool is its own", () => {
    const uses = [1, 2].map((subnetId) => ({ pool: { ...poolOf([0, 74]), subnetId }, total: 75n, used: 59, newestGrant: null }));
    expect([...shortPools(uses, new Set([2, 3]))]).toEqual([2]);
  });
});

describe("an IPv6 window", () => {
  const window = (last: string): ServedPool => ({
    ...{ subnetId: 6, prefix: ipPrefix("2001:db8::/64"), interfaceName: "eth0" },
    ranges: [{ first: ipAddress("2001:db8::100"), last: ipAddress(last) }],
  });
  const useOf = (last: string, used: number): ReturnType<PoolCount["uses"]> => {
    const count = new PoolCount([poolOf([0, 9]), window(last)]);
    for (let i = 0; i < used; i++) count.add({ ...USED, address: ipAddress(`2001:db8::${(0x100 + i).toString(16)}`) });
    count.add({ ...USED, address: ipAddress("2001:db8::ff") });
    return count.uses();
  };

  it("is counted against its size, however large, and is short like any other", () => {
    const uses = useOf("2001:db8::109", 8);
    expect(uses).toMatchObject([
      { total: 10n, used: 0 },
      { total: 10n, used: 8 },
    ]);
    expect(poolProblems(uses, shortPools(uses, new Set()))).toMatchObject([
      { at: "subnet 2001:db8::/64", message: "8 of the 10 addresses for unknown machines are used, 2 free" },
    ]);
    const large = useOf("2001:db8:0:0:ffff:ffff:ffff:ffff", 300);
    expect(large[1]).toMatchObject({ total: 2n ** 64n - 256n, used: 300 });
    expect(shortPools(large, new Set([6])).size).toBe(0);
  });
});
