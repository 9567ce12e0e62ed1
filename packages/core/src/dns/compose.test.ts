import { readFileSync } from "node:fs";
import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { addressFromValue, addressValue, ipAddress, type IpAddress } from "../address/ip.js";
import { ipPrefix, prefixContains, usableRange } from "../address/prefix.js";
import { premadeLabel } from "../names/premade.js";
import { checkZones } from "./check-zones.js";
import { composeZones, NAME_SERVERS_MAX, rackLabel, type ZoneSources } from "./compose.js";
import { reverseName } from "./reverse.js";
import { renderZone } from "./zone-text.js";

const servers = [
  { name: "b", addresses: [ipAddress("192.0.2.3")] },
  { name: "a", addresses: [ipAddress("192.0.2.2"), ipAddress("10.0.0.2")] },
];

function subnets(...prefixes: readonly string[]): ZoneSources["subnets"] {
  return prefixes.map((prefix, place) => ({ id: place + 1, prefix: ipPrefix(prefix), domain: "example.test" }));
}

/** All records of all zones by full name, as a resolver would find them: `TYPE VALUE` lists. */
function resolved(sources: ZoneSources): Map<string, string[]> {
  const names = new Map<string, string[]>();
  for (const zone of composeZones(sources).zones) {
    for (const line of renderZone({ ...zone, serial: 1 })
      .split("\n")
      .slice(5)) {
      const [owner = "", type = "", value = ""] = line.split(" ");
      const name = owner === "@" ? zone.origin : `${owner}.${zone.origin}`;
      names.set(name, [...(names.get(name) ?? []), `${type} ${value}`]);
    }
  }
  return names;
}

describe("zones of a site", () => {
  it("are one forward zone a domain and the reverse zones of the prefixes, each once", () => {
    const composed = composeZones({
      subnets: subnets("192.0.2.0/25", "192.0.2.128/26", "10.0.0.0/23"),
      allocations: [],
      servers,
    });
    expect(composed.zones.map(({ origin }) => origin)).toEqual([
      "0.0.10.in-addr.arpa",
      "1.0.10.in-addr.arpa",
      "2.0.192.in-addr.arpa",
      "example.test",
    ]);
    expect(composed.zones.map(({ premade }) => premade.length)).toEqual([1, 1, 2, 3]);
    expect(composed.problems).toEqual([]);
  });

  it("name the racks as servers, with their real addresses and their own PTR", () => {
    const sources = { subnets: subnets("192.0.2.0/24"), allocations: [], servers };
    const [reverse, forward] = composeZones(sources).zones;
    expect(forward?.nameServers).toEqual(["rack-a.example.test", "rack-b.example.test"]);
    expect(reverse?.nameServers).toEqual(forward?.nameServers);
    expect(resolved(sources).get("rack-a.example.test")).toEqual(["A 10.0.0.2", "A 192.0.2.2"]);
    expect(resolved(sources).get("3.2.0.192.in-addr.arpa")).toEqual(["PTR rack-b.example.test."]);
  });

  it("list no more than thirteen of many racks as servers, those that are in the domain first, and keep the names of all that are", () => {
    const own = ["192.0.2.0/24", "198.51.100.0/24"] as const;
    const many = Array.from({ length: 40 }, (_, number) => {
      const network = number % 4 === 0 ? "198.51.100" : "192.0.2";
      return { name: `r${String(number).padStart(2, "0")}`, addresses: [ipAddress(`${network}.${number + 1}`)] };
    });
    const sources = {
      subnets: own.map((prefix, place) => ({ id: place + 1, prefix: ipPrefix(prefix), domain: `${"ab".charAt(place)}.example` })),
      allocations: [],
      servers: many,
    };
    const { problems, zones } = composeZones(sources);
    expect(problems).toEqual([]);
    const serversOf = (origin: string): readonly string[] => zones.find((zone) => zone.origin === origin)?.nameServers ?? [];
    // Ten racks are in b.example; the others that it lists are the first by name.
    const local = many.filter((_, number) => number % 4 === 0).map(({ name }) => name);
    const listed = [...local, "r01", "r02", "r03"].sort();
    expect(serversOf("b.example")).toEqual(listed.map((name) => `rack-${name}.b.example`));
    expect(serversOf("100.51.198.in-addr.arpa")).toEqual(serversOf("b.example"));
    expect(serversOf("a.example")).toHaveLength(NAME_SERVERS_MAX);
    const names = resolved(sources);
    for (const { nameServers } of zones) for (const name of nameServers) expect(names.get(name)).toHaveLength(1);
    for (const { name } of many) expect(names.has(`rack-${name}.a.example`)).toBe(!local.includes(name));
    expect(checkZones({ zones: zones.map((zone) => ({ ...zone, serial: 1 })) })).toEqual([]);
    expect(composeZones({ ...sources, servers: many.toReversed(), subnets: sources.subnets.toReversed() }).zones).toEqual(zones);
  });

  it("are none without a rack to serve them", () => {
    expect(
      composeZones({ subnets: subnets("192.0.2.0/24"), allocations: [], servers: [{ name: "a", addresses: [] }] }).zones,
    ).toEqual([]);
  });

  it("do not change when a machine keeps its pre-made name", () => {
    const before = { subnets: subnets("192.0.2.0/24"), allocations: [], servers };
    const address = ipAddress("192.0.2.60");
    const after = { ...before, allocations: [{ subnetId: 1, address, name: "ip-192-0-2-60.example.test" }] };
    expect(composeZones(after)).toEqual(composeZones(before));
    expect(resolved(before).get("ip-192-0-2-60.example.test")).toEqual(["A 192.0.2.60"]);
  });

  it("gain a record and a PTR for a chosen name, and keep the pre-made one", () => {
    const names = resolved({
      subnets: subnets("192.0.2.0/24"),
      servers,
      allocations: [{ subnetId: 1, address: ipAddress("192.0.2.60"), name: "db1.example.test" }],
    });
    expect(names.get("db1.example.test")).toEqual(["A 192.0.2.60"]);
    expect(names.get("ip-192-0-2-60.example.test")).toEqual(["A 192.0.2.60"]);
    expect(names.get("60.2.0.192.in-addr.arpa")).toEqual(["PTR db1.example.test."]);
  });

  it("hold even the pre-made name of an allocation where the prefix is too large to be written out", () => {
    const allocations = [{ subnetId: 1, address: ipAddress("2001:db8::60"), name: "ip-2001-db8-0-0-0-0-0-60.example.test" }];
    const names = resolved({ subnets: subnets("2001:db8::/64"), servers, allocations });
    expect(names.get("ip-2001-db8-0-0-0-0-0-60.example.test")).toEqual(["AAAA 2001:db8::60"]);
    expect(names.get(reverseName(ipAddress("2001:db8::60")))).toEqual(["PTR ip-2001-db8-0-0-0-0-0-60.example.test."]);
  });

  it("have no pre-made names of an IPv4 prefix that is too large, and say so", () => {
    const composed = composeZones({ subnets: subnets("10.0.0.0/15", "2001:db8::/64"), allocations: [], servers });
    expect(composed.problems.map(({ code, at }) => [code, at])).toEqual([["premade-too-large", "subnet 10.0.0.0/15"]]);
    expect(composed.zones.every(({ premade }) => premade.length === 0)).toBe(true);
  });

  it("put a name into the closest domain, and report names that no zone can hold", () => {
    const composed = composeZones({
      subnets: [
        { id: 1, prefix: ipPrefix("192.0.2.0/25"), domain: "example.test" },
        { id: 2, prefix: ipPrefix("192.0.2.128/25"), domain: "lab.example.test" },
      ],
      allocations: [
        { subnetId: 1, address: ipAddress("192.0.2.9"), name: "m.lab.example.test" },
        { subnetId: 1, address: ipAddress("192.0.2.10"), name: "www.elsewhere.test" },
        { subnetId: 1, address: ipAddress("192.0.2.11"), name: "rack-a.example.test" },
        { subnetId: 9, address: ipAddress("192.0.2.12"), name: "gone.example.test" },
      ],
      servers,
    });
    expect(composed.zones.find(({ origin }) => origin === "lab.example.test")?.records).toContainEqual({
      owner: "m",
      type: "A",
      ttl: 300,
      value: "192.0.2.9",
    });
    expect(composed.problems.map(({ code, at }) => [code, at])).toEqual([
      ["name-outside-zones", "address 192.0.2.10"],
      ["name-of-rack", "address 192.0.2.11"],
    ]);
    expect(composed.zones.find(({ origin }) => origin === "example.test")?.records.map(({ value }) => value)).not.toContain(
      "192.0.2.11",
    );
  });

  it.each([
    ["Rack 7/B", "rack-rack-7-b"],
    ["r.example.", "rack-r-example"],
    ["x".repeat(80), `rack-${"x".repeat(58)}`],
  ])("turn the rack name %j into %s", (name, label) => {
    expect(rackLabel(name)).toBe(label);
  });
});

interface NameCase {
  readonly given: { readonly domain: string; readonly names: Record<string, string> };
  readonly expect: { readonly must_contain: string[]; readonly must_not_contain: string[] };
}

describe("name cases of the case bank", () => {
  it.each(["180-invalid-characters", "182-numeric-and-ip-like"])("%s", (file) => {
    const path = new URL(`../../../../test/fixtures/dns/${file}.json`, import.meta.url);
    const { given, expect: wanted } = JSON.parse(readFileSync(path, "utf8")) as NameCase;
    const entries = Object.entries(given.names);
    const sources = {
      subnets: [{ id: 1, prefix: ipPrefix("192.0.2.0/24"), domain: given.domain }],
      allocations: entries.map(([name, address]) => ({
        subnetId: 1,
        address: ipAddress(address),
        name: `${name}.${given.domain}`,
      })),
      servers,
    };
    const composed = composeZones(sources);
    const names = resolved(sources);
    for (const name of wanted.must_contain) {
      const address = given.names[name] ?? "";
      expect(names.get(`${name}.${given.domain}`)).toEqual([`A ${address}`]);
      expect(names.get(reverseName(ipAddress(address)))).toEqual([`PTR ${name}.${given.domain}.`]);
    }
    const texts = composed.zones.map((zone) => renderZone({ ...zone, serial: 1 })).join("");
    for (const name of wanted.must_not_contain) {
      expect([...names.keys()].filter((owner) => owner.startsWith(`${name}.`) && owner.endsWith(given.domain))).toEqual([]);
      expect(texts).not.toContain(`PTR ${name}.`);
      const address = given.names[name];
      // The machine is not nameless: it keeps the name that its address always had.
      if (address !== undefined) expect(names.get(reverseName(ipAddress(address)))?.[0]).toMatch(/^PTR (ip|rack)-/);
    }
    expect(new Set(composed.problems.map(({ at }) => at)).size).toBe(entries.length - wanted.must_contain.length);
    expect(checkZones({ zones: composed.zones.map((zone) => ({ ...zone, serial: 1 })) })).toEqual([]);
  });
});

describe("reverse cases of the case bank", () => {
  it.each([
    "144-slash31-and-32",
    "153-v6-127-and-125",
    "155-ptr-host-in-other-domain",
    "136-slash24",
    "138-slash23-unaligned-octet",
  ])("%s", (file) => {
    const path = new URL(`../../../../test/fixtures/dns/${file}.json`, import.meta.url);
    const { given, expect: wanted } = JSON.parse(readFileSync(path, "utf8")) as {
      given: { subnets: string[]; domains?: string[]; hosts: Record<string, string[]> };
      expect: { resolve_ptr?: Record<string, string>; ptr?: Record<string, string> };
    };
    const [main = "example.test", ...more] = given.domains ?? [];
    const declared = [
      ...given.subnets.map((prefix, place) => ({ id: place + 1, prefix: ipPrefix(prefix), domain: main })),
      ...more.map((domain, place) => ({ id: 100 + place, prefix: ipPrefix(`198.51.100.${place * 4}/30`), domain })),
    ];
    const allocations = Object.entries(given.hosts).flatMap(([name, addresses]) =>
      addresses
        .map(ipAddress)
        .map((address) => ({ subnetId: declared.find(({ prefix }) => prefixContains(prefix, address))?.id ?? 0, address, name })),
    );
    const sources = { subnets: declared, allocations, servers: [{ name: "a", addresses: [ipAddress("203.0.113.1")] }] };
    const names = resolved(sources);
    const pointers = {
      ...wanted.ptr,
      ...Object.fromEntries(
        Object.entries(wanted.resolve_ptr ?? {}).map(([address, name]) => [reverseName(ipAddress(address)), name]),
      ),
    };
    expect(Object.keys(pointers).length).toBeGreaterThan(0);
    for (const [name, target] of Object.entries(pointers)) expect(names.get(name)).toEqual([`PTR ${target}`]);
    expect(composeZones(sources).problems).toEqual([]);
  });
});

const prefixArbitrary = fc
  .tuple(fc.nat({ max: 255 }), fc.integer({ min: 22, max: 32 }))
  .map(([third, length]) => `10.${third}.0.0/${length}`);

describe("round trip", () => {
  test.prop([
    fc.uniqueArray(prefixArbitrary, { minLength: 1, maxLength: 4, selector: (text) => text.split("/")[0] }),
    fc.array(fc.nat(), { maxLength: 8 }),
  ])("every usable address has a name that leads back to it, and the review finds nothing", (prefixes, picks) => {
    const declared = subnets(...prefixes);
    const allocations = picks.map((pick, place) => {
      const subnet = declared[pick % declared.length] ?? { id: 1, prefix: ipPrefix("10.0.0.0/24") };
      return { subnetId: subnet.id, address: nth(subnet.prefix, pick), name: `m${place}.example.test` };
    });
    const unique = [...new Map(allocations.map((allocation) => [allocation.address, allocation])).values()];
    const sources = { subnets: declared, allocations: unique, servers: [{ name: "a", addresses: [ipAddress("203.0.113.1")] }] };
    const names = resolved(sources);
    for (const subnet of declared) {
      for (const pick of [0, 1, 77, ...picks]) {
        const address = nth(subnet.prefix, pick);
        const name = unique.find((allocation) => allocation.address === address)?.name ?? `${premadeLabel(address)}.example.test`;
        expect(names.get(reverseName(address))).toEqual([`PTR ${name}.`]);
        expect(names.get(name)).toEqual([`A ${address}`]);
      }
    }
    const composed = composeZones(sources);
    expect(checkZones({ zones: composed.zones.map((zone) => ({ ...zone, serial: 1 })) })).toEqual([]);
    expect(composeZones({ subnets: declared.toReversed(), allocations: unique.toReversed(), servers: sources.servers })).toEqual(
      composed,
    );
  });
});

function nth(prefix: ReturnType<typeof ipPrefix>, pick: number): IpAddress {
  const { first, last } = usableRange(prefix);
  return addressFromValue(4, addressValue(first) + (BigInt(pick) % (addressValue(last) - addressValue(first) + 1n)));
}
