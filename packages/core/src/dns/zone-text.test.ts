import { describe, expect, it } from "vitest";
import { ipPrefix } from "../address/prefix.js";
import type { DesiredRecord, DesiredZone } from "../desired/schema.js";
import { checkZones } from "./check-zones.js";
import { compileZones } from "./compile-zones.js";
import { renderZone, renderZoneChunks, ZONE_HEADER } from "./zone-text.js";
import { zoneFileName } from "./zone-file-name.js";

const rack: DesiredRecord = { owner: "rack-a", type: "A", ttl: 300, value: "192.0.2.1" };

function forward(members: Partial<DesiredZone> = {}): DesiredZone {
  return {
    origin: "example.test",
    serial: 7,
    kind: "forward",
    nameServers: ["rack-a.example.test"],
    mailbox: "hostmaster.example.test",
    ttl: 300,
    premade: [{ prefix: ipPrefix("192.0.2.0/29"), domain: "example.test" }],
    records: [rack],
    ...members,
  };
}

function reverse(members: Partial<DesiredZone> = {}): DesiredZone {
  return forward({ origin: "2.0.192.in-addr.arpa", kind: "reverse", records: [], ...members });
}

function body(zone: DesiredZone): string[] {
  const text = renderZone(zone);
  expect(text.startsWith(ZONE_HEADER)).toBe(true);
  expect(text.endsWith("\n") && !text.endsWith("\n\n")).toBe(true);
  return text.slice(ZONE_HEADER.length).trimEnd().split("\n").slice(4);
}

function codes(zone: DesiredZone): string[] {
  return checkZones({ zones: [zone] }).map((problem) => problem.code);
}

const record = (owner: string, type: DesiredRecord["type"], value: string, ttl = 300): DesiredRecord => ({
  owner,
  type,
  ttl,
  value,
});

describe("a forward zone", () => {
  it("has header, SOA, name servers, records and every usable address", () => {
    expect(renderZone(forward()).split("\n")).toEqual([
      ZONE_HEADER.trimEnd(),
      "$ORIGIN example.test.",
      "$TTL 300",
      "@ SOA rack-a.example.test. hostmaster.example.test. 7 3600 600 604800 30",
      "@ NS rack-a.example.test.",
      "rack-a A 192.0.2.1",
      ...[1, 2, 3, 4, 5, 6].map((last) => `ip-192-0-2-${last} A 192.0.2.${last}`),
      "",
    ]);
  });

  it("writes IPv6 names, names of a domain below the origin, and each name once", () => {
    const premade = [
      { prefix: ipPrefix("2001:db8::/126"), domain: "lab.example.test" },
      { prefix: ipPrefix("192.0.2.0/30"), domain: "example.test" },
      { prefix: ipPrefix("192.0.2.0/31"), domain: "example.test" },
    ];
    expect(body(forward({ premade, records: [] }))).toEqual([
      "ip-192-0-2-1 A 192.0.2.1",
      "ip-192-0-2-2 A 192.0.2.2",
      "ip-2001-db8-0-0-0-0-0-1.lab AAAA 2001:db8::1",
      "ip-2001-db8-0-0-0-0-0-2.lab AAAA 2001:db8::2",
      "ip-2001-db8-0-0-0-0-0-3.lab AAAA 2001:db8::3",
    ]);
  });

  it("escapes text and shows a TTL of its own", () => {
    const zone = forward({
      premade: [],
      records: [record("t", "TXT", 'a"b\\c é', 60), record("w", "CNAME", "other.test"), record("long", "TXT", "x".repeat(255))],
    });
    expect(body(zone)).toEqual([`long TXT "${"x".repeat(255)}"`, 't 60 TXT "a\\034b\\092c \\195\\169"', "w CNAME other.test."]);
    expect(body(forward({ premade: [], records: [record("e", "TXT", "é".repeat(200))] }))[0]).toMatch(
      /^e TXT "(\\\d{3}){255}" "(\\\d{3}){145}"$/,
    );
  });

  it("gives the same bytes for the same content in any order, in pieces or whole", () => {
    const premade = [ipPrefix("10.0.0.0/18"), ipPrefix("192.0.2.0/29")].map((prefix) => ({ prefix, domain: "example.test" }));
    const records = [rack, record("db", "A", "192.0.2.2"), record("db", "A", "192.0.2.3")];
    const zone = forward({ premade, records });
    expect(renderZone(forward({ premade: premade.toReversed(), records: records.toReversed() }))).toBe(renderZone(zone));
    expect([...renderZoneChunks(zone)].length).toBeGreaterThan(1);
    expect(renderZone(zone).trimEnd().split("\n")).toHaveLength(5 + 3 + 16382 + 6);
  });
});

describe("a reverse zone", () => {
  it("replaces the pre-made PTR by an explicit one", () => {
    expect(body(reverse({ records: [record("3", "PTR", "db.other.test")] }))).toEqual([
      "3 PTR db.other.test.",
      ...[1, 2, 4, 5, 6].map((last) => `${last} PTR ip-192-0-2-${last}.example.test.`),
    ]);
  });

  it("holds what lies under its origin, named after the narrowest prefix", () => {
    const premade = [
      { prefix: ipPrefix("192.0.2.0/29"), domain: "example.test" },
      { prefix: ipPrefix("192.0.2.2/31"), domain: "lab.test" },
      { prefix: ipPrefix("192.0.2.4/32"), domain: "one.test" },
      { prefix: ipPrefix("192.0.3.0/31"), domain: "far.test" },
      { prefix: ipPrefix("2001:db8::/126"), domain: "six.test" },
    ];
    expect(body(reverse({ premade }))).toEqual([
      "1 PTR ip-192-0-2-1.example.test.",
      "5 PTR ip-192-0-2-5.example.test.",
      "6 PTR ip-192-0-2-6.example.test.",
      "2 PTR ip-192-0-2-2.lab.test.",
      "3 PTR ip-192-0-2-3.lab.test.",
      "4 PTR ip-192-0-2-4.one.test.",
    ]);
  });

  it("has all octets below its cut in the owner", () => {
    const zone = reverse({
      origin: "168.192.in-addr.arpa",
      premade: [{ prefix: ipPrefix("192.168.0.0/16"), domain: "example.test" }],
    });
    const lines = body(zone);
    expect(lines).toHaveLength(65_534);
    expect(lines[0]).toBe("1.0 PTR ip-192-168-0-1.example.test.");
    expect(lines.at(-1)).toBe("254.255 PTR ip-192-168-255-254.example.test.");
  });

  it("writes IPv6", () => {
    const zone = reverse({
      origin: `${"0.".repeat(19)}9.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa`,
      premade: [{ prefix: ipPrefix("2001:db8:9::/127"), domain: "example.test" }],
    });
    expect(body(zone)).toEqual(["0 PTR ip-2001-db8-9-0-0-0-0-0.example.test.", "1 PTR ip-2001-db8-9-0-0-0-0-1.example.test."]);
  });
});

describe("limits", () => {
  it("writes no names for a prefix that is too large, and says so", () => {
    const zone = forward({
      premade: ["10.0.0.0/15", "2001:db8::/64"].map((prefix) => ({ prefix: ipPrefix(prefix), domain: "example.test" })),
    });
    const compiled = compileZones({ zones: [zone] });
    expect(compiled.ok && compiled.value.warnings.map((warning) => warning.code)).toEqual([
      "premade-too-large",
      "premade-too-large",
    ]);
    expect(body(zone)).toEqual(["rack-a A 192.0.2.1"]);
  });

  it("sorts zones by origin and gives files without slash", () => {
    const compiled = compileZones({ zones: [reverse(), forward()] });
    expect(compiled.ok && compiled.value.files.map(({ fileName }) => fileName)).toEqual(
      ["2.0.192.in-addr.arpa.zone", "example.test.zone"].sort(),
    );
    expect(zoneFileName("128/25.2.0.192.in-addr.arpa")).toBe("128+25.2.0.192.in-addr.arpa.zone");
  });
});

describe("review", () => {
  it("finds nothing in good zones", () => {
    const records = [
      rack,
      record("@", "TXT", "v"),
      record("_dmarc", "TXT", "v"),
      record("*.w", "A", "192.0.2.9"),
      record("ip-192-0-2-3", "TXT", "rack 7"),
    ];
    expect(codes(forward({ records }))).toEqual([]);
    expect(codes(reverse({ records: [record("3", "PTR", "db.example.test")] }))).toEqual([]);
  });

  it.each([
    ["cname-beside-others", [rack, record("db", "CNAME", "m1.example.test"), record("db", "A", "192.0.2.10")]],
    ["cname-beside-others", [rack, record("db", "CNAME", "m1.example.test"), record("db", "CNAME", "m2.example.test")]],
    ["cname-beside-others", [rack, record("@", "CNAME", "m1.example.test")]],
    ["cname-beside-others", [rack, record("ip-192-0-2-3", "CNAME", "m1.example.test")]],
    ["record-shadows-premade", [rack, record("ip-192-0-2-3", "A", "192.0.2.4")]],
    ["record-duplicate", [rack, rack]],
    ["record-ttl-differs", [rack, { ...rack, value: "192.0.2.2", ttl: 60 }]],
    ["record-owner-form", [rack, record("host.", "A", "192.0.2.2")]],
    ["record-owner-form", [rack, record("Host", "A", "192.0.2.2")]],
    ["label-characters", [rack, record("a_b", "A", "192.0.2.2")]],
    ["label-characters", [rack, record("-lead", "A", "192.0.2.2")]],
    ["label-empty", [rack, record("a..b", "A", "192.0.2.2")]],
    ["record-owner-characters", [rack, record("a;b", "TXT", "x")]],
    ["record-owner-characters", [rack, record("a\nb", "TXT", "x")]],
    ["record-owner-too-long", [rack, record("a.".repeat(125) + "a", "TXT", "x")]],
    ["record-value", [rack, record("db", "A", "2001:db8::1")]],
    ["record-value", [rack, record("db", "AAAA", "192.0.2.1")]],
    ["record-value", [rack, record("db", "CNAME", "a b")]],
    ["name-server-without-address", []],
  ] as const)("says %s", (code, records) => {
    expect(codes(forward({ records: [...records] }))).toEqual([code]);
  });

  it("names duplicate zones, also under another spelling", () => {
    expect(checkZones({ zones: [forward(), forward()] }).map(({ code }) => code)).toEqual(["zone-duplicate", "zone-duplicate"]);
    expect(checkZones({ zones: [forward(), forward({ origin: "Example.test" })] }).map(({ code }) => code)).toContain(
      "zone-duplicate",
    );
  });

  it("refuses a PTR to what is no host name, and a premade domain outside the zone", () => {
    expect(codes(reverse({ records: [record("3", "PTR", "a_b.example.test")] }))).toEqual(["label-characters"]);
    expect(codes(forward({ premade: [{ prefix: ipPrefix("192.0.2.0/29"), domain: "lab.test" }] }))).toEqual([
      "premade-out-of-zone",
    ]);
  });
});
