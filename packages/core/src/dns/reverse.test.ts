import { readdirSync, readFileSync } from "node:fs";
import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { addressBits, addressFromValue, addressValue, ipAddress, type IpFamily } from "../address/ip.js";
import { ipPrefix, prefixAround, prefixContains, prefixLength, prefixRange, type IpPrefix } from "../address/prefix.js";
import { reverseName, reverseZoneOf, reverseZonePrefix, reverseZonesFor } from "./reverse.js";

interface ReverseCase {
  readonly given: { readonly subnets: readonly string[] };
  readonly expect: { readonly zones?: readonly string[]; readonly zone_of?: Readonly<Record<string, string>> };
}

const folder = new URL("../../../../test/fixtures/dns/", import.meta.url);
const cases = readdirSync(folder)
  .map((file) => ({ file, content: JSON.parse(readFileSync(new URL(file, folder), "utf8")) as ReverseCase }))
  .filter(
    ({ content }) => Array.isArray(content.given.subnets) && (content.expect.zones ?? content.expect.zone_of) !== undefined,
  );

describe("reverse zones of the case bank", () => {
  it("has cases", () => {
    expect(cases.length).toBeGreaterThanOrEqual(5);
  });

  it.each(cases)("$file", ({ content }) => {
    const zones = new Set(content.given.subnets.flatMap((subnet) => reverseZonesFor(ipPrefix(subnet))));
    if (content.expect.zones !== undefined) expect([...zones].sort()).toEqual([...content.expect.zones].sort());
    for (const [address, origin] of Object.entries(content.expect.zone_of ?? {}))
      expect(reverseZoneOf(ipAddress(address), zones)).toBe(origin);
  });
});

describe("reverse names", () => {
  it("writes both families", () => {
    expect(reverseName(ipAddress("192.0.2.10"))).toBe("10.2.0.192.in-addr.arpa");
    expect(reverseName(ipAddress("2001:db8::1"))).toBe(`1.${"0.".repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`);
  });

  it.each([
    ["0.0.0.0/0", ["in-addr.arpa"]],
    ["10.0.0.0/7", ["10.in-addr.arpa", "11.in-addr.arpa"]],
    ["10.0.0.0/8", ["10.in-addr.arpa"]],
    ["172.16.0.0/15", ["16.172.in-addr.arpa", "17.172.in-addr.arpa"]],
    ["192.0.2.4/30", ["2.0.192.in-addr.arpa"]],
    ["192.0.2.77/32", ["2.0.192.in-addr.arpa"]],
    ["2001:db8::/32", ["8.b.d.0.1.0.0.2.ip6.arpa"]],
    ["2001:db8:9::/127", [`${"0.".repeat(19)}9.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa`]],
  ])("cuts %s", (prefix, zones) => {
    expect(reverseZonesFor(ipPrefix(prefix))).toEqual(zones);
  });

  it.each([
    "example.test",
    "x.in-addr.arpa",
    "1.2.3.4.5.in-addr.arpa",
    "256.in-addr.arpa",
    "01.in-addr.arpa",
    "g.ip6.arpa",
    "128-25.2.0.192.in-addr.arpa",
  ])("takes %s for no plain reverse zone", (origin) => {
    expect(reverseZonePrefix(origin)).toBeNull();
  });
});

/** A prefix of any length at least this long, so that the number of its zones stays small. */
function prefixes(family: IpFamily, shortest: number): fc.Arbitrary<IpPrefix> {
  const bits = addressBits(family);
  return fc
    .tuple(fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }), fc.integer({ min: shortest, max: bits }))
    .map(([value, length]) => prefixAround(addressFromValue(family, value), length));
}

describe("zone cuts tile every prefix", () => {
  test.prop([fc.oneof(prefixes(4, 0), prefixes(6, 0)), fc.bigInt({ min: 0n, max: (1n << 128n) - 1n })])(
    "each address is in exactly one zone, and up to /24 and /124 the zones hold nothing else",
    (prefix, salt) => {
      const zones = reverseZonesFor(prefix).map((origin) => {
        const zone = reverseZonePrefix(origin);
        expect(zone).not.toBeNull();
        return zone ?? prefix;
      });
      const { first, last } = prefixRange(prefix);
      const family = prefix.includes(":") ? 6 : 4;
      const size = addressValue(last) - addressValue(first) + 1n;
      const inside = addressFromValue(family, addressValue(first) + (salt % size));
      for (const address of [first, inside, last]) {
        expect(zones.filter((zone) => prefixContains(zone, address))).toHaveLength(1);
        expect(reverseZonePrefix(reverseZoneOf(address, new Set(reverseZonesFor(prefix))) ?? "")).toBe(
          zones.find((zone) => prefixContains(zone, address)),
        );
      }
      const covered = zones.reduce((sum, zone) => sum + (1n << BigInt(addressBits(family) - prefixLength(zone))), 0n);
      if (prefixLength(prefix) <= (family === 4 ? 24 : 124)) expect(covered).toBe(size);
      else expect(zones).toHaveLength(1);
      expect(zones.length).toBeLessThanOrEqual(family === 4 ? 128 : 8);
    },
  );
});
