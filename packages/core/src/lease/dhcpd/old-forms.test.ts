import { describe, expect, it } from "vitest";
import { leasesContract } from "../contract.js";
import { createLeaseReader } from "./lease-reader.js";

/** What dhcpd 4.4.3-P1 made of each of these at its start, by the file that it wrote then. */
describe("forms that dhcpd reads and does not write so", () => {
  it.each([
    ["bootp", { state: "active", bootp: true, reserved: false }],
    ["reserved", { state: "active", bootp: false, reserved: true }],
  ])("'binding state %s' is a flag of an active lease", (word, expected) => {
    expect(leaseOf(`  binding state ${word};\n`)).toMatchObject(expected);
  });

  it("takes the same words as flags in the next and the rewind state", () => {
    const lease = leaseOf("  binding state active;\n  next binding state bootp;\n  rewind binding state reserved;\n");
    expect(lease).toMatchObject({ state: "active", bootp: true, reserved: true });
  });

  it.each(["  dynamic-bootp;\n", "  bootp;\n"])("takes %j for a lease by BOOTP", (flag) => {
    expect(leaseOf(`  binding state active;\n${flag}`)).toMatchObject({ state: "active", bootp: true });
  });

  it.each([
    ["-3600", "2036-01-02T02:04:05Z"],
    ["60", "2036-01-02T03:05:05Z"],
    ["-99999", "2035-12-31T23:17:26Z"],
    ["+3600", null],
    ["- 3600", null],
  ])("a number %s behind the time is seconds to be added", (offset, ends) => {
    expect(leaseOf(`  ends 5 2036/01/02 03:04:05 ${offset};\n  binding state active;\n`)).toMatchObject({ ends });
  });
});

function leaseOf(statements: string): unknown {
  const reader = createLeaseReader();
  reader.push(Buffer.from(`lease 192.0.2.1 {\n${statements}}\n`));
  return leasesContract(reader, Date.parse("2026-11-30T00:00:00Z")).leases["192.0.2.1"];
}
