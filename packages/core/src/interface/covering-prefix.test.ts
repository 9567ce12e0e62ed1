import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ipv4FromNumber } from "../address/ip.js";
import { prefixAround } from "../address/prefix.js";
import { coverIndex, coveringPrefix } from "./covering-prefix.js";

describe("coverIndex", () => {
  it("answers what a look at every prefix answers", () => {
    const address = fc.integer({ min: 0, max: 0xffff }).map((n) => ipv4FromNumber(0x0a000000 + n));
    const prefix = fc.tuple(address, fc.integer({ min: 8, max: 32 })).map(([around, length]) => prefixAround(around, length));
    fc.assert(
      fc.property(fc.array(prefix, { maxLength: 20 }), fc.array(address, { maxLength: 20 }), (prefixes, addresses) => {
        const covering = coverIndex(prefixes);
        for (const one of addresses) expect(covering(one)).toBe(coveringPrefix(prefixes, one));
      }),
    );
  });
});
