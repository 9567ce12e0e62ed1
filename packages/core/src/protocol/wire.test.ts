import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromWire, toWire } from "./wire.js";

describe("toWire and fromWire", () => {
  it("give back any message, addresses in disguise included", () => {
    const text = fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.constantFrom("::", "::1", "fe80::1%eth0", "010.0.0.1", "1.2.3"));
    const leaf = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null));
    const key = fc.string().filter((name) => name !== "__proto__");
    const message = fc.dictionary(key, fc.oneof(leaf, fc.array(leaf), fc.array(fc.dictionary(key, leaf))));
    fc.assert(
      fc.property(message, (value) => {
        expect(fromWire(toWire(value))).toEqual({ ...value });
      }),
    );
  });

  it("carries addresses as 4 or 16 octets", () => {
    expect(toWire(["192.0.2.7", "2001:db8::7", "192.0.2", "rack7"])).toEqual([
      Uint8Array.of(192, 0, 2, 7),
      Uint8Array.of(0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7),
      "192.0.2",
      "rack7",
    ]);
  });

  it("leaves octets of another length for the schema to refuse", () => {
    expect(fromWire({ address: Uint8Array.of(1, 2, 3) })).toEqual({ address: Uint8Array.of(1, 2, 3) });
  });
});
