import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { expect, test } from "vitest";
import { ipv6Parts, ipv6Text } from "./ipv6-text.js";

/** Zeros and ones often, so that runs of all lengths and places come. */
const part = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  fc.integer({ min: 0, max: 0xffff }),
  fc.constantFrom(1, 0xffff, 0x10),
);
const parts = fc.array(part, { minLength: 8, maxLength: 8 });

test("text and groups of any address are those of a general parser", () => {
  fc.assert(
    fc.property(parts, (groups) => {
      const text = new ipaddr.IPv6(groups).toRFC5952String();
      expect(ipv6Text(groups)).toBe(text);
      expect(ipv6Parts(text)).toEqual(groups);
    }),
    { numRuns: 3000 },
  );
});

test.each(["::", "::1", "1::", "::ffff:102:304", "2001:db8::", "1:2:3:4:5:6:7:8", "0:1::", "1:0:0:2::3", "0:0:1::1:0:0"])(
  "%s",
  (spelt) => {
    const { parts: groups } = ipaddr.IPv6.parse(spelt);
    const text = ipaddr.IPv6.parse(spelt).toRFC5952String();
    expect([ipv6Text(groups), ipv6Parts(text)]).toEqual([text, groups]);
  },
);
