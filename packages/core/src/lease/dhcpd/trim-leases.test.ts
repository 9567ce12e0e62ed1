import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLeaseReader } from "./lease-reader.js";
import { trimLeases } from "./trim-leases.js";

const block = (address: string, state: string, ends: string, more = ""): string =>
  `lease ${address} {\n  starts 4 2026/01/01 00:00:00;\n  ends ${ends};\n  binding state ${state};\n${more}  hardware ethernet 02:00:00:00:00:01;\n}\n`;
const LONG_AGO = "4 2026/01/01 00:10:00";
const LATELY = "4 2026/01/08 00:00:00";
const NOW = Date.UTC(2026, 0, 8, 2) / 1000;
const HEADER =
  "# The format of this file is documented in the dhcpd.leases(5) manual page.\n\nauthoring-byte-order little-endian;\n\n";

const trim = (text: string) => {
  const trimmed = trimLeases(Buffer.from(text, "latin1"), NOW);
  return trimmed === null ? null : { text: Buffer.from(trimmed.bytes).toString("latin1"), dropped: trimmed.dropped };
};

describe("trimLeases", () => {
  it("drops every block of a lease that ended long ago, and keeps the rest octet for octet", () => {
    const kept = `${HEADER}${block("192.0.2.1", "active", LATELY)}host a {\n  dynamic;\n  hardware ethernet 02:00:00:00:00:09;\n}\n`;
    const text = `${HEADER}${block("192.0.2.2", "active", LONG_AGO)}${kept.slice(HEADER.length)}${block("192.0.2.2", "free", LONG_AGO)}`;
    expect(trim(text)).toEqual({ text: kept, dropped: 1 });
  });

  it.each([
    ["in use", block("192.0.2.1", "active", "never")],
    ["ended two hours ago, after a week", block("192.0.2.1", "free", LATELY)],
    ["without dates", "lease 192.0.2.1 {\n  binding state free;\n}\n"],
    ["abandoned", block("192.0.2.1", "abandoned", LONG_AGO)],
    ["held for a failover partner", block("192.0.2.1", "backup", LONG_AGO)],
    ["reserved", block("192.0.2.1", "free", LONG_AGO, "  reserved;\n")],
    ["given to BOOTP", block("192.0.2.1", "active", LONG_AGO, "  bootp;\n")],
    ["of a state that nobody knows", block("192.0.2.1", "waiting", LONG_AGO)],
    ["ended long ago, then taken again", block("192.0.2.1", "free", LONG_AGO) + block("192.0.2.1", "active", LATELY)],
  ])("keeps a lease that is %s", (_, text) => {
    expect(trim(HEADER + text)).toBeNull();
  });

  it("counts by the length of the lease: what was held for minutes is forgotten after an hour", () => {
    const ended = block("192.0.2.1", "active", LONG_AGO);
    const at = (hour: number, minute: number) =>
      trimLeases(Buffer.from(HEADER + ended), Date.UTC(2026, 0, 1, hour, minute) / 1000);
    expect(at(1, 49)).toBeNull();
    expect(at(1, 51)).toMatchObject({ dropped: 1 });
  });

  it("leaves what is damaged, torn or shared to dhcpd, and is not taken in by what a client sent", () => {
    const old = block("192.0.2.2", "free", LONG_AGO);
    expect(trim(`${old}lease 192.0.2.2 {\n  starts nonsense`)).toBeNull();
    const uid = '  uid "\\001}\\"; lease 192.0.2.9 { reserved;";\n';
    expect(trim(block("192.0.2.2", "free", LONG_AGO, uid))).toMatchObject({ dropped: 1, text: "" });
    const peer = `failover peer "x" state {\n  my state normal at ${LONG_AGO};\n  partner state normal at ${LONG_AGO};\n}\n`;
    expect(trim(peer + old)).toBeNull();
  });

  it("keeps exactly the others of every real file", () => {
    const folder = join(import.meta.dirname, "../../../../../test/fixtures/leases");
    let trimmedFiles = 0;
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".leases"))) {
      const bytes = readFileSync(join(folder, name));
      const trimmed = trimLeases(bytes, Date.UTC(2040, 0, 1) / 1000);
      if (trimmed === null) continue;
      trimmedFiles++;
      const before = keysOf(bytes);
      const after = keysOf(trimmed.bytes);
      expect([name, before.size - after.size]).toEqual([name, trimmed.dropped]);
      for (const [key, text] of after) expect([name, key, before.get(key)]).toEqual([name, key, text]);
    }
    expect(trimmedFiles).toBeGreaterThan(3);
  });
});

function keysOf(bytes: Uint8Array): Map<string, string> {
  const reader = createLeaseReader();
  reader.push(bytes);
  reader.finish(true);
  return new Map([...reader.table.leases()].map((lease) => [lease.key, JSON.stringify(lease)]));
}
