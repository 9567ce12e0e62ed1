import { describe, expect, it } from "vitest";
import { FAST_SPAN } from "./fast-lease4.js";
import { DECLARATION_BYTES_MAX } from "./framer.js";
import { createLeaseReader } from "./lease-reader.js";

/** In dhcpd's own layout, so that the fast path reads it. */
function leaseBlock(host: number): string {
  const times = "  starts 1 2026/11/30 11:40:35;\n  ends 1 2026/11/30 11:50:35;\n  cltt 1 2026/11/30 11:40:35;\n";
  const states = "  binding state active;\n  next binding state free;\n  rewind binding state free;\n";
  return `lease 192.0.2.${host} {\n${times}${states}  hardware ethernet 02:00:00:00:00:0${host};\n}\n`;
}

const FILL: readonly (readonly [string, (length: number) => string])[] = [
  ["blanks", (length) => " ".repeat(length)],
  ["newlines", (length) => "\n".repeat(length)],
  ["NUL octets, as a crash of the host leaves them", (length) => "\0".repeat(length)],
  ["a comment", (length) => `#${"x".repeat(length - 2)}\n`],
  ["short comments", (length) => "# lease {\n".repeat(length / 10)],
  ["one long word on its line", (length) => `${"x".repeat(length - 1)}\n`],
  ["a block that is not known", (length) => `foo {${"y".repeat(length - 7)}}\n`],
  ["closing braces", (length) => `${"}".repeat(length - 1)}\n`],
];
/** The fast path may load up to {@link FAST_SPAN} octets without looking where the buffer ends. */
const LENGTHS = [100, FAST_SPAN - 200, FAST_SPAN, FAST_SPAN + 10, 3 * FAST_SPAN];

describe.each(FILL)("between two leases: %s", (_, fill) => {
  it.each(LENGTHS)("of about %i octets hide neither of them", (length) => {
    for (const behind of [0, 1, 20, 300]) {
      for (const chunk of [Number.MAX_SAFE_INTEGER, FAST_SPAN + 300]) expectBoth(fill(length), behind, chunk);
    }
  });

  it("longer than any declaration hide neither of them", () => {
    expectBoth(fill(DECLARATION_BYTES_MAX + FAST_SPAN), 0, Number.MAX_SAFE_INTEGER);
  });
});

function expectBoth(between: string, newlinesBehind: number, chunk: number): void {
  const bytes = Buffer.from(`${leaseBlock(1)}${between}${leaseBlock(2)}${"\n".repeat(newlinesBehind)}`, "latin1");
  const reader = createLeaseReader();
  // A buffer of its own for each piece, as large as the piece.
  for (let at = 0; at < bytes.length; at += chunk) reader.push(Uint8Array.from(bytes.subarray(at, at + chunk)));
  reader.finish(false);
  expect([...reader.table.keys()]).toEqual(["192.0.2.1", "192.0.2.2"]);
  expect(reader.table.get("192.0.2.2")?.ends).toBe(Date.parse("2026-11-30T11:50:35Z") / 1000);
}
