import { expect, it } from "vitest";
import { ipAddress, ipv4FromNumber, ipv4Number } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import { PoolCount, poolProblems } from "./pool-use.js";
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
  return poolProblems(count.uses())[0]?.message;
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
  expect(poolProblems(new PoolCount([poolOf()]).uses())).toEqual([]);
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
    { total: 20, used: 5, newestGrant: 200 },
    { total: 1, used: 0, newestGrant: null },
  ]);
});
