import { describe, expect, it } from "vitest";
import { formatJoinLine, formatRegionAddress, parseFingerprint, parseJoinToken, parseRegionAddress } from "./join.js";

describe("parseRegionAddress", () => {
  it.each([
    ["region.example.com:7443", "region.example.com", 7443],
    ["192.0.2.1:1", "192.0.2.1", 1],
    ["[2001:db8::1]:65535", "2001:db8::1", 65535],
  ])("reads %s and writes it back", (text, host, port) => {
    expect(parseRegionAddress(text)).toEqual({ ok: true, value: { host, port } });
    expect(formatRegionAddress({ host, port })).toBe(text);
  });

  it.each([
    "",
    "region",
    "region:",
    "region:0",
    "region:65536",
    "2001:db8::1:7443",
    "10.1:7443",
    "192.0.2.300:7443",
    "[region]:7443",
    "[fe80::1%eth0]:1",
    "a b:1",
    "-a:1",
    "https://region:1",
  ])("refuses %j", (text) => {
    expect(parseRegionAddress(text)).toMatchObject({ ok: false, problems: [{ code: "address-invalid" }] });
  });
});

describe("the join line", () => {
  it("is read as it is written", () => {
    const token = { id: "ab12cd34ef56", secret: "0123456789abcdef0123456789abcdef" };
    const hash = "a".repeat(64);
    const [program, command, address, text = "", fingerprint = ""] = formatJoinLine("r:1", token, hash).split(" ");
    expect([program, command, address]).toEqual(["berth-agent", "join", "r:1"]);
    expect(parseJoinToken(text)).toEqual(token);
    expect(parseFingerprint(fingerprint.toUpperCase().replace("SHA256", "sha256"))).toBe(hash);
  });

  it.each(["", "a.b", "abcd.short", `abcd.${"x".repeat(129)}`, "ab cd.0123456789abcdef", "abcd.0123456789abcdef.x"])(
    "%j is no token",
    (text) => {
      expect(parseJoinToken(text)).toBeNull();
    },
  );

  it.each(["", "sha256:", `sha256:${"a".repeat(63)}`, `sha1:${"a".repeat(64)}`, "g".repeat(64)])(
    "%j is no fingerprint",
    (text) => {
      expect(parseFingerprint(text)).toBeNull();
    },
  );
});
