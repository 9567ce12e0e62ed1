import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { ipAddress, type IpAddress } from "../address/ip.js";
import { classify, type Classification } from "./classify.js";
import type { HostInterface } from "./model.js";
import { parseInterfaces } from "./parse-interfaces.js";
import { mergeByAddress } from "./verdict.js";

interface Expectation {
  readonly classify: Record<string, Record<string, string>>;
  readonly publish: readonly string[];
  readonly subnets?: readonly string[];
  readonly subnet_of?: Record<string, string | null>;
  readonly interfaces?: readonly string[];
  readonly hardware_mac?: Record<string, string>;
  readonly vlan?: Record<string, { parent: string; id: number }>;
  readonly ambiguous?: boolean;
  readonly alarm?: readonly string[];
  readonly with_config_vips?: {
    readonly vips: readonly string[];
    readonly classify: Record<string, Record<string, string>>;
    readonly publish: readonly string[];
  };
}

const folder = fileURLToPath(new URL("../../../../test/fixtures/interfaces/", import.meta.url));
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".expect.json"))
  .map((name) => name.replace(".expect.json", ""));

const expected = (name: string): Expectation => JSON.parse(readFileSync(`${folder}${name}.expect.json`, "utf8")) as Expectation;

function observed(name: string): readonly HostInterface[] {
  const file = readdirSync(folder).find((entry) => entry === `${name}.json` || entry === `${name}.txt`);
  const interfaces = parseInterfaces(readFileSync(`${folder}${file ?? name}`, "utf8"));
  if (!interfaces.ok) throw new Error(JSON.stringify(interfaces.problems));
  return interfaces.value;
}

/** Only what the expectation names; one entry an address of an interface. */
function classesOf(result: Classification, wanted: Expectation["classify"]): Expectation["classify"] {
  return Object.fromEntries(
    Object.entries(wanted).map(([name, addresses]) => {
      const own = mergeByAddress(result.verdicts.filter((verdict) => verdict.interfaceName === name));
      return [
        name,
        Object.fromEntries(Object.keys(addresses).map((text) => [text, own.get(ipAddress(text))?.class ?? "not seen"])),
      ];
    }),
  );
}

const codes = (result: Classification): readonly string[] => result.problems.map((problem) => problem.code);
const set = (...texts: readonly string[]): ReadonlySet<IpAddress> => new Set(texts.map(ipAddress));

describe("the interface cases", () => {
  it("are all here", () => expect(names).toHaveLength(27));

  it.each(names)("%s", (name) => {
    const wanted = expected(name);
    const interfaces = observed(name);
    const result = classify(interfaces);
    expect(classesOf(result, wanted.classify)).toEqual(wanted.classify);
    expect(result.publish).toEqual(wanted.publish);
    if (wanted.subnets !== undefined) expect(result.networks).toEqual(wanted.subnets);
    if (wanted.subnet_of !== undefined) expect(Object.fromEntries(result.networkOf)).toMatchObject(wanted.subnet_of);
    if (wanted.interfaces !== undefined) expect(interfaces.map((entry) => entry.name)).toEqual(wanted.interfaces);
    for (const [link, address] of Object.entries(wanted.hardware_mac ?? {}))
      expect(interfaces.find((entry) => entry.name === link)?.hardwareAddress).toBe(address);
    for (const [link, { parent, id }] of Object.entries(wanted.vlan ?? {}))
      expect(interfaces.find((entry) => entry.name === link)).toMatchObject({ parent, vlanId: id });
    expect(codes(result).includes("ambiguous-real")).toBe(wanted.ambiguous === true);
    expect(result.problems.filter((problem) => problem.code === "address-dadfailed")).toHaveLength(wanted.alarm?.length ?? 0);
  });

  it.each(names)("%s: the same in any order of interfaces and (but where order decides) of addresses", (name) => {
    const interfaces = observed(name);
    const shuffled = [...interfaces].reverse().map((entry) => ({ ...entry, addresses: [...entry.addresses].reverse() }));
    const [straight, mirrored] = [
      classify(interfaces),
      classify(expected(name).ambiguous === true ? [...interfaces].reverse() : shuffled),
    ];
    expect(mirrored.publish).toEqual(straight.publish);
    expect(mirrored.networks).toEqual(straight.networks);
    expect(new Map([...mergeByAddress(mirrored.verdicts)].map(([address, verdict]) => [address, verdict.class]))).toEqual(
      new Map([...mergeByAddress(straight.verdicts)].map(([address, verdict]) => [address, verdict.class])),
    );
  });

  it("106: configuration tells a VIP with the subnet's own mask", () => {
    const wanted = expected("106-vip-same-24-secondary").with_config_vips;
    if (wanted === undefined) throw new Error("the case lost its second half");
    const result = classify(observed("106-vip-same-24-secondary"), { vips: set(...wanted.vips) });
    expect(classesOf(result, wanted.classify)).toEqual(wanted.classify);
    expect(result.publish).toEqual(wanted.publish);
  });

  it("105: configuration decides between two /32, either way, and nothing stays ambiguous", () => {
    const interfaces = observed("105-two-32-only");
    for (const [real, other] of [["203.0.113.10", "203.0.113.11"] as const, ["203.0.113.11", "203.0.113.10"] as const]) {
      const result = classify(interfaces, { real: set(real) });
      expect(result.publish).toEqual([real]);
      expect(mergeByAddress(result.verdicts).get(ipAddress(other))?.class).toBe("vip");
      expect(result.problems).toEqual([]);
      expect(classify(interfaces, { vips: set(other) }).publish).toEqual([real]);
    }
  });

  it("116: a deprecated address is published as last resort, and said so", () => {
    expect(codes(classify(observed("116-only-address-deprecated")))).toEqual(["only-deprecated"]);
  });

  it("119: names the address that failed duplicate address detection", () => {
    expect(classify(observed("119-tentative-dadfailed")).problems[0]?.message).toContain("2001:db8::6");
  });
});

function host(...lines: readonly string[]): readonly HostInterface[] {
  const interfaces = parseInterfaces(["1: lo    inet 127.0.0.1/8 scope host lo", ...lines].join("\n"));
  if (!interfaces.ok) throw new Error("bad test input");
  return interfaces.value;
}

function verdictOf(result: Classification, text: string) {
  const verdict = mergeByAddress(result.verdicts).get(ipAddress(text));
  return { class: verdict?.class, confidence: verdict?.confidence, step: verdict?.step };
}

describe("the steps", () => {
  it("1: configuration beats every mark, real beats vips, both beat the ledger", () => {
    const interfaces = host("2: eth0    inet 10.0.0.5/24 scope global eth0:vip", "2: eth0    inet 10.0.0.6/32 scope global eth0");
    const knowledge = { real: set("10.0.0.5"), vips: set("10.0.0.5"), ledgerVips: set("10.0.0.5", "10.0.0.6") };
    const result = classify(interfaces, knowledge);
    expect(verdictOf(result, "10.0.0.5")).toEqual({ class: "real", confidence: 1, step: 1 });
    expect(verdictOf(result, "10.0.0.6")).toEqual({ class: "vip", confidence: 1, step: 1 });
  });

  it("2: a peer address is a point-to-point one, and the host's own only when nothing else is", () => {
    const peer = "3: eth1    inet 10.9.0.1 peer 10.9.0.2/32 scope global eth1";
    expect(verdictOf(classify(host("2: eth0    inet 10.0.0.5/24 scope global eth0", peer)), "10.9.0.1").class).toBe("p2p");
    const alone = classify(host(peer));
    expect(verdictOf(alone, "10.9.0.1")).toMatchObject({ class: "real", confidence: 0.3 });
    expect(codes(alone)).toEqual(["no-real-address"]);
    expect(alone.publish).toEqual(["10.9.0.1"]);
    expect(classify(host("3: tun0    inet 10.9.0.1 peer 10.9.0.2/32 scope global tun0")).publish).toEqual([]);
  });

  it("3: the marks of a manager are sure, whatever the prefix length", () => {
    const interfaces = host(
      "2: eth0    inet 10.0.0.5/24 scope global eth0",
      "2: eth0    inet 10.0.0.6/24 scope global secondary eth0:vip",
      "2: eth0    inet 10.0.0.7/24 scope global secondary proto keepalived eth0",
      "3: vrrp.51    inet 10.0.0.8/24 scope global vrrp.51",
    );
    const result = classify(interfaces);
    for (const text of ["10.0.0.6", "10.0.0.7", "10.0.0.8"])
      expect(verdictOf(result, text)).toEqual({ class: "vip", confidence: 0.95, step: 3 });
    expect(result.publish).toEqual(["10.0.0.5"]);
  });

  it("5: an address leased to this host is real beside anything", () => {
    const interfaces = host("2: eth0    inet6 2001:db8::5/64 scope global ", "2: eth0    inet6 2001:db8::6/128 scope global ");
    expect(verdictOf(classify(interfaces), "2001:db8::6")).toMatchObject({ class: "vip", step: 7 });
    expect(verdictOf(classify(interfaces, { leasedToSelf: set("2001:db8::6") }), "2001:db8::6")).toMatchObject({
      class: "real",
      step: 5,
    });
  });

  it("7: a broadcast like the sibling's makes a /32 surer (pacemaker)", () => {
    const interfaces = host(
      "2: eth0    inet 10.0.0.5/24 brd 10.0.0.255 scope global eth0",
      "2: eth0    inet 10.0.0.6/32 brd 10.0.0.255 scope global eth0",
      "2: eth0    inet 10.0.0.7/32 scope global eth0",
    );
    expect(verdictOf(classify(interfaces), "10.0.0.6")).toEqual({ class: "vip", confidence: 0.95, step: 7 });
    expect(verdictOf(classify(interfaces), "10.0.0.7")).toEqual({ class: "vip", confidence: 0.9, step: 7 });
  });

  it("8: a deprecated /128 is not taken for the host's own because the kernel lists the newest first", () => {
    const interfaces = host(
      "2: eth0    inet6 2001:db8::28/128 scope global nodad deprecated ",
      "2: eth0    inet6 2001:db8::5/128 scope global ",
    );
    const result = classify(interfaces);
    expect(verdictOf(result, "2001:db8::5")).toEqual({ class: "real", confidence: 0.5, step: 8 });
    expect(verdictOf(result, "2001:db8::28").class).toBe("vip");
  });

  it("9: deprecated static addresses alone leave the host with an address", () => {
    const interfaces = host(
      "2: eth0    inet 10.0.0.5/24 scope global deprecated eth0",
      "2: eth0    inet 10.0.0.6/32 scope global eth0",
    );
    expect(verdictOf(classify(interfaces), "10.0.0.5")).toMatchObject({ class: "real", step: 10 });
  });

  it("lo and dummy at once: one of them is the host's own", () => {
    const interfaces = host("1: lo    inet 10.255.0.7/32 scope global lo", "4: dummy0    inet 10.255.0.8/32 scope global dummy0");
    expect(classify(interfaces).publish).toEqual(["10.255.0.7"]);
  });
});

const text = fc.constantFrom(
  "10.0.0.5",
  "10.0.0.6",
  "10.0.0.7",
  "10.1.0.5",
  "2001:db8::5",
  "2001:db8::6",
  "169.254.1.1",
  "fe80::1",
);
const lengths = fc.constantFrom(16, 24, 31, 32, 64, 128);
const flags = fc.subarray(["secondary", "dynamic", "deprecated", "nodad", "noprefixroute"]);
const address = fc.tuple(text, lengths, flags).map(([own, length, marks]) => {
  const width = own.includes(":") ? 128 : 32;
  return `${own.includes(":") ? "inet6" : "inet"} ${own}/${length > width ? width : length} scope global ${marks.join(" ")}`;
});
const hosts = fc
  .array(fc.tuple(fc.constantFrom("eth0", "eth1", "lo", "dummy0", "vrrp.7", "docker0"), address), { maxLength: 8 })
  .map((lines) =>
    host(
      ...lines.map(
        ([name, line]) => `${["lo", "eth0", "eth1", "dummy0", "vrrp.7", "docker0"].indexOf(name) + 1}: ${name}    ${line}`,
      ),
    ),
  );

describe("any host", () => {
  property.prop([hosts])("is judged the same twice, with reasons, and publishes each address once and no VIP", (interfaces) => {
    const result = classify(interfaces);
    expect(classify(interfaces)).toEqual(result);
    expect(new Set(result.publish).size).toBe(result.publish.length);
    for (const verdict of result.verdicts) {
      expect(verdict.reasons.length).toBeGreaterThan(0);
      expect(verdict.confidence).toBeGreaterThan(0);
    }
    const classes = mergeByAddress(result.verdicts);
    for (const published of result.publish) expect(classes.get(published)?.class).toBe("real");
  });

  property.prop([hosts])("has an address to publish, or a problem, wherever a candidate stands", (interfaces) => {
    const result = classify(interfaces);
    for (const family of [4, 6] as const) {
      const own = result.verdicts.filter(({ observed: { address: own } }) => own.includes(":") === (family === 6));
      if (!own.some(({ class: kind }) => kind === "real" || kind === "vip")) continue;
      const published = result.publish.some((own) => own.includes(":") === (family === 6));
      expect(published || codes(result).includes("no-real-address")).toBe(true);
    }
  });
});
