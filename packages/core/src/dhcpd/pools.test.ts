import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { hardwareAddress, linkAt, subnetOf } from "../../../../test/fixtures/dhcpd/subnet.js";
import { ipAddress, ipv4FromNumber, ipv4Number, type IpAddress } from "../address/ip.js";
import { rangeContains, type IpRange } from "../address/prefix.js";
import { compileDhcpd } from "./compile.js";
import { POOL_ADDRESSES_MAX, singleAddress, splitIntoPools, subtractExcluded, subtractRanges } from "./pools.js";

const base = ipv4Number(ipAddress("10.1.0.0"));
const offset = fc.nat({ max: 40_000 });
const run = fc.tuple(offset, offset).map(([a, b]): IpRange => ({ first: at(Math.min(a, b)), last: at(Math.max(a, b)) }));

function at(n: number): IpAddress {
  return ipv4FromNumber(base + n);
}

function size({ first, last }: IpRange): number {
  return ipv4Number(last) - ipv4Number(first) + 1;
}

describe("subtraction and pools", () => {
  test.prop([run, fc.array(run, { maxLength: 6 }), fc.array(offset, { maxLength: 40 })])(
    "single addresses and ranges together are subtracted as if all were ranges",
    (window, ranges, singles) => {
      const addresses = singles.map(at);
      const asRanges = [...ranges, ...addresses.map(singleAddress)];
      expect(subtractExcluded(window, [...addresses, ipAddress("2001:db8::1")], ranges)).toEqual(
        subtractRanges(window, asRanges),
      );
    },
  );

  test.prop([run, fc.array(run, { maxLength: 6 }), fc.array(offset, { maxLength: 40 })])(
    "hold exactly the addresses of the window that nobody has, at most 4,096 a pool",
    (window, excluded, samples) => {
      const pools = splitIntoPools(subtractRanges(window, excluded));
      const ranges = pools.flatMap((pool) => pool.ranges);
      const edges = [window, ...excluded].flatMap(({ first, last }) =>
        [-1, 0, 1].flatMap((d) => [ipv4Number(first) + d, ipv4Number(last) + d]),
      );
      for (const address of [...edges, ...samples.map((n) => base + n)].map(ipv4FromNumber)) {
        const free = rangeContains(window, address) && !excluded.some((range) => rangeContains(range, address));
        expect(ranges.filter((range) => rangeContains(range, address))).toHaveLength(free ? 1 : 0);
      }
      for (const pool of pools) {
        expect(pool.ranges.length).toBeGreaterThan(0);
        expect(pool.ranges.reduce((sum, range) => sum + size(range), 0)).toBeLessThanOrEqual(POOL_ADDRESSES_MAX);
      }
      expect(ranges.every((range) => size(range) > 0)).toBe(true);
    },
  );

  it("reaches the ends of the address space", () => {
    const all = { first: ipAddress("0.0.0.0"), last: ipAddress("255.255.255.255") };
    expect(subtractRanges(all, [{ first: ipAddress("0.0.0.0"), last: ipAddress("255.255.255.254") }])).toEqual([
      { first: "255.255.255.255", last: "255.255.255.255" },
    ]);
    expect(subtractRanges(all, [all])).toEqual([]);
  });
});

describe("what is static is never in a pool", () => {
  test.prop([
    fc.uniqueArray(fc.integer({ min: 1, max: 254 }), { maxLength: 60 }),
    fc.array(fc.integer({ min: 1, max: 254 }), { maxLength: 60 }),
    fc.integer({ min: 1, max: 254 }),
  ])("host set and pool set have nothing in common, whatever the window", (hosts, excluded, own) => {
    const subnet = subnetOf({
      mode: "window",
      window: { first: ipAddress("192.168.50.1"), last: ipAddress("192.168.50.254") },
      excluded: excluded.map((n) => ipAddress(`192.168.50.${n}`)),
      hosts: hosts.map((n) => ({
        hardwareAddress: hardwareAddress(n),
        address: ipAddress(`192.168.50.${n}`),
        name: `m${n}.example.test`,
      })),
    });
    const config = compileDhcpd({ subnets: [subnet] }, { links: [linkAt("eth0", 1, `192.168.50.${own}`)] });
    expect(config.ok).toBe(true);
    if (!config.ok) return;
    const ranges = config.value.sharedNetworks.flatMap((network) =>
      network.subnets.flatMap((s) => s.pools.flatMap((pool) => pool.ranges)),
    );
    const taken = new Set([...hosts, ...excluded, own, 1, 254]);
    const given = ranges.flatMap((range) =>
      Array.from({ length: size(range) }, (_, n) => ipv4Number(range.first) + n - ipv4Number(ipAddress("192.168.50.0"))),
    );
    expect(given.filter((n) => taken.has(n))).toEqual([]);
    expect(given.length + taken.size).toBe(254);
    expect(config.value.hosts.flatMap((group) => group.hosts)).toHaveLength(hosts.filter((n) => n !== own && n !== 254).length);
  });

  it("cuts at fixed places: one address less changes one pool", () => {
    const window = { first: ipAddress("10.1.0.2"), last: ipAddress("10.1.255.254") };
    const full = splitIntoPools([window]);
    const carved = splitIntoPools(subtractRanges(window, [{ first: ipAddress("10.1.100.7"), last: ipAddress("10.1.100.7") }]));
    expect(full).toHaveLength(16);
    expect(carved.filter((pool, place) => JSON.stringify(pool) !== JSON.stringify(full[place]))).toHaveLength(1);
  });
});
