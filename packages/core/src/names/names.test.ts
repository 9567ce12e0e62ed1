import { fc, test } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { addressFromValue, ipAddress } from "../address/ip.js";
import { dnsLabelOf } from "./client-name.js";
import { checkChosenName, checkHostName, checkLabel, foldName, isHostName } from "./host-name.js";
import { parsePremade, premadeLabel } from "./premade.js";

const codes = (problems: readonly { code: string }[]): string[] => problems.map((problem) => problem.code);

describe("pre-made labels", () => {
  it("writes IPv4 and IPv6", () => {
    expect(premadeLabel(ipAddress("192.168.50.60"))).toBe("ip-192-168-50-60");
    expect(premadeLabel(ipAddress("2001:db8::"))).toBe("ip-2001-db8-0-0-0-0-0-0");
    expect(premadeLabel(ipAddress("::ffff:192.0.2.1"))).toBe("ip-0-0-0-0-0-ffff-c000-201");
  });

  it.each([
    "ip-192-168-50",
    "ip-192-168-050-60",
    "ip-192-168-50-256",
    "IP-192-168-50-60",
    "ip-2001-db8-0-0-0-0-0-0-0",
    "10-0-0-5",
  ])("takes %s for no pre-made label", (label) => {
    expect(parsePremade(label)).toBeNull();
  });

  test.prop([fc.bigInt({ min: 0n, max: (1n << 32n) - 1n })])("IPv4 round trip", (value) => {
    const address = addressFromValue(4, value);
    expect(parsePremade(premadeLabel(address))).toBe(address);
    expect(checkLabel(premadeLabel(address))).toEqual([]);
  });

  test.prop([fc.bigInt({ min: 0n, max: (1n << 128n) - 1n })])("IPv6 round trip", (value) => {
    const address = addressFromValue(6, value);
    expect(parsePremade(premadeLabel(address))).toBe(address);
    expect(checkLabel(premadeLabel(address))).toEqual([]);
  });
});

describe("host names", () => {
  it.each(["12345", "10-0-0-5", "10-0-0-5-db", "ok-1", "xn--caf-dma", "a.b.example.test", "m".repeat(63)])(
    "accepts %s",
    (name) => {
      expect(checkHostName(name)).toEqual([]);
    },
  );

  it.each([
    ["has space", "label-characters"],
    ["-lead", "label-characters"],
    ["trail-", "label-characters"],
    ["a_b", "label-characters"],
    ["Caps", "label-characters"],
    ["a..b", "label-empty"],
    ["", "label-empty"],
    ["ünïcödé", "label-not-ascii"],
    ["ab--cd", "label-reserved-hyphens"],
    ["xn--", "label-characters"],
    ["192.0.2.9", "name-is-address"],
    ["192.0.2.9.example.test", "name-is-address"],
    ["1.2", "name-is-address"],
    ["0x7f.1", "name-is-address"],
    ["2001:db8::1", "name-is-address"],
    ["localhost", "name-reserved"],
    ["localhost.example.test", "name-reserved"],
    ["m".repeat(64), "label-too-long"],
    [`${"m".repeat(63)}.`.repeat(4), "name-too-long"],
  ])("refuses '%s' as %s", (name, code) => {
    expect(codes(checkHostName(name))).toEqual([code]);
  });

  // Mostly letters, so that many of them are names.
  const characters = fc.constantFrom(..."abxnlocalhost", "0", "9", "-", ".", "_", "A", "\u00e9");
  const beginnings = fc.constantFrom("", "localhost", "localhost4", "ip6-loopback", "xn--", "ab--", "m".repeat(63));

  test.prop([beginnings, fc.string({ unit: characters, maxLength: 9 })])(
    "are told by the rules of their labels",
    (first, more) => {
      const name = first + more;
      const labels = name.split(".");
      const isReserved = /^(?:localhost[46]?|ip6-localhost|ip6-loopback|broadcasthost)$/.test(labels[0] ?? "");
      const isNumber = /^\d+(?:\.\d+){1,3}$/.test(name);
      const expected = !isReserved && !isNumber && labels.every((label) => checkLabel(label).length === 0);
      expect([isHostName(name), checkHostName(name).length === 0]).toEqual([expected, expected]);
    },
  );

  it("folds case and the final dot", () => {
    expect(foldName("Db-1.Example.TEST.")).toBe("db-1.example.test");
  });

  it("lets an address have its own pre-made name but not another's", () => {
    const address = ipAddress("192.0.2.9");
    expect(checkChosenName("ip-192-0-2-9.example.test", address)).toEqual([]);
    expect(codes(checkChosenName("ip-192-0-2-8.example.test", address))).toEqual(["name-premade-of-other"]);
  });
});

describe("names that clients claim", () => {
  it.each([
    ["Ubuntu", "ubuntu"],
    ["control\0", "control"],
    ["host.corp.example.", "host"],
    ["12345", "12345"],
    ["xn--caf-dma", "xn--caf-dma"],
  ])("takes %j as %s", (claimed, label) => {
    expect(dnsLabelOf(claimed)).toBe(label);
  });

  it.each([
    " ",
    "",
    "café",
    'a"b',
    "tail\\",
    "$(rm -rf)",
    "x{y};z",
    "sp ace",
    "-lead",
    "localhost",
    "wpad",
    "isatap",
    "ns1",
    "@",
    "*",
    "192.0.2.9",
    "ip-192-0-2-9",
    "_ldap",
  ])("takes %j for nothing", (claimed) => {
    expect(dnsLabelOf(claimed)).toBeNull();
  });

  it("leaves taken labels to their owners", () => {
    expect(dnsLabelOf("rack1", new Set(["rack1"]))).toBeNull();
  });

  test.prop([fc.string({ unit: "binary", maxLength: 80 })])("never gives anything but a plain label", (claimed) => {
    const label = dnsLabelOf(claimed);
    expect(label === null || checkLabel(label).length === 0).toBe(true);
  });
});
