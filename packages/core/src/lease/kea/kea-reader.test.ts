import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leasesContract } from "../contract.js";
import { formatLeases } from "../format-leases.js";
import { decodeHostname } from "../hostname.js";
import { toLeaseReport } from "../lease-report.js";
import type { LeaseReader } from "../reader.js";
import { keaFilesBefore } from "./kea-files.js";
import { createKeaReader } from "./kea-reader.js";

/** As Kea 2.2 writes it. */
const HEADER4 = "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n";
const HEADER6 =
  "address,duid,valid_lifetime,expire,subnet_id,pref_lifetime,lease_type,iaid,prefix_len,fqdn_fwd,fqdn_rev,hostname,hwaddr,state,user_context,hwtype,hwaddr_source\n";
const ACTIVE = "10.0.0.1,02:53:00:00:00:01,01:02:53,600,1796000600,1,0,0,node-1,0,\n";
const MS = 1_796_000_000_000;

describe("createKeaReader, DHCPv4", () => {
  it("reads a lease", () => {
    const lease = readerOf(HEADER4 + ACTIVE).table.get("10.0.0.1");
    expect(lease).toMatchObject({
      family: 4,
      bindingState: "active",
      starts: 1_796_000_000,
      ends: 1_796_000_600,
      reserved: false,
    });
    expect(lease === null ? null : toLeaseReport(lease, MS)).toEqual({
      address: "10.0.0.1",
      state: "active",
      inUse: true,
      allocatable: false,
      hardwareAddress: "02:53:00:00:00:01",
      dnsLabel: "node-1",
      starts: 1_796_000_000,
      ends: 1_796_000_600,
    });
  });

  it.each([
    ["0", null, 0],
    ["4294967293", 4_294_966_693, 4_294_967_293],
    ["4294967296", 4_294_966_696, "never"],
    ["8640000000001", "never", "never"],
    ["999999999999999", "never", "never"],
  ])("keeps an end of %s seconds within the times that a lease may have, so that it can be shown", (expire, starts, ends) => {
    const { table } = readerOf(HEADER4 + ACTIVE.replace("1796000600", expire));
    const lease = table.get("10.0.0.1");
    expect(lease).toMatchObject({ starts, cltt: starts, ends });
    expect(leasesContract(readerOf(HEADER4 + ACTIVE.replace("1796000600", expire)), MS).leases).toHaveProperty(["10.0.0.1"]);
    expect([...formatLeases(table)].join("")).toContain("lease 10.0.0.1 {");
  });

  it.each([
    ["0", "active", true, false],
    ["1", "abandoned", false, false],
    ["2", "expired", false, true],
    ["3", "released", false, true],
    ["9", "unknown", false, false],
  ])("knows state %s", (number, state, inUse, allocatable) => {
    const lease = readerOf(HEADER4 + ACTIVE.replace("node-1,0,", `node-1,${number},`)).table.get("10.0.0.1");
    expect(lease === null ? null : toLeaseReport(lease, MS)).toMatchObject({ state, inUse, allocatable });
  });

  it("lets the last line of an address win, whole", () => {
    const { table } = readerOf(`${HEADER4}${ACTIVE}10.0.0.1,02:53:00:00:00:02,,600,1796000700,1,0,0,,0,\n`);
    expect(table.get("10.0.0.1")).toMatchObject({ clientId: null, clientHostname: null, ends: 1_796_000_700 });
    expect(table.keysOfHardware("02:53:00:00:00:02")).toEqual(["10.0.0.1"]);
    expect(table.keysOfHardware("02:53:00:00:00:01")).toEqual([]);
  });

  it("takes a lifetime of 0 as deleted and of 4294967295 as for ever", () => {
    const { table } = readerOf(`${HEADER4}${ACTIVE}10.0.0.1,02:53:00:00:00:01,,0,1796000000,1,0,0,,0,\n`);
    expect(table.size).toBe(0);
    const forever = readerOf(`${HEADER4}10.0.0.2,02:53:00:00:00:02,,4294967295,6090967295,1,0,0,,0,\n`).table;
    expect(forever.get("10.0.0.2")).toMatchObject({ ends: "never", starts: 1_796_000_000 });
    expect(forever.nextLapse(MS)).toBeNull();
  });

  it("reads files of an older Kea, with fewer columns", () => {
    const { table } = readerOf(
      "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname\n10.0.0.1,02:53:00:00:00:01,,600,1796000600,1,0,0,old\n",
    );
    expect(table.get("10.0.0.1")).toMatchObject({ bindingState: "active" });
  });

  it("unescapes commas in names and contexts", () => {
    const { table } = readerOf(`${HEADER4}10.0.0.1,02:53:00:00:00:01,,600,1796000600,1,0,0,a&#x2cb,0,{ "a": 1&#x2c "b": 2 }\n`);
    const lease = table.get("10.0.0.1");
    if (lease?.family !== 4) throw new Error("no lease");
    expect(decodeHostname(lease.clientHostname ?? new Uint8Array())).toBe("a,b");
    expect(lease.sets.get("user-context")).toBe('{ "a": 1, "b": 2 }');
  });

  it("keeps all octets of other hardware", () => {
    const infiniband = Array.from({ length: 20 }, (_, i) => i.toString(16).padStart(2, "0")).join(":");
    const { table } = readerOf(`${HEADER4}10.0.0.1,${infiniband},,600,1796000600,1,0,0,,0,\n`);
    expect(table.get("10.0.0.1")).toMatchObject({ hardware: { type: "infiniband" } });
    expect(table.keysOfHardware(infiniband)).toEqual(["10.0.0.1"]);
  });
});

describe("createKeaReader, DHCPv6", () => {
  const na = "2001:db8::1,00:03:00:01:02:53:00:00:00:01,600,1796000600,1,400,0,7,128,0,0,,,0,,,\n";
  const pd = "2001:db8:ff00:100::,00:03:00:01:02:53:00:00:00:01,600,1796000600,1,400,2,7,56,0,0,,,0,,,\n";

  it("reads addresses and prefixes", () => {
    const { table } = readerOf(HEADER6 + na + pd);
    expect(table.family).toBe(6);
    expect(table.get("2001:db8::1")).toMatchObject({ type: "na", iaid: 7, preferredLife: 400, maxLife: 600, prefix: null });
    expect(table.get("2001:db8:ff00:100::/56")).toMatchObject({ type: "pd", prefix: "2001:db8:ff00:100::/56" });
    expect(table.keysOfHardware("02:53:00:00:00:01")).toEqual(["2001:db8::1", "2001:db8:ff00:100::/56"]);
  });

  it("deletes both kinds", () => {
    const { table } = readerOf(HEADER6 + na + pd + na.replace(",600,", ",0,") + pd.replace(",600,", ",0,"));
    expect(table.size).toBe(0);
  });
});

describe("damage", () => {
  it.each([
    ["no address", "x,02:53:00:00:00:01,,600,1796000600,1,0,0,,0,\n"],
    ["an address of the other family", "2001:db8::1,02:53:00:00:00:01,,600,1796000600,1,0,0,,0,\n"],
    ["a lifetime that is none", "10.0.0.2,02:53:00:00:00:01,,long,1796000600,1,0,0,,0,\n"],
    ["a hardware address that is none", "10.0.0.2,zz,,600,1796000600,1,0,0,,0,\n"],
    ["a line that is cut", "10.0.0.2,02:53\n"],
  ])("loses only its own line: %s", (_name, line) => {
    const reader = readerOf(HEADER4 + line + ACTIVE);
    expect([...reader.table.leases()].map(({ key }) => key)).toEqual(["10.0.0.1"]);
    expect(reader.skippedDeclarations).toBe(1);
    expect(reader.diagnostics()).toMatchObject([{ code: "kea-line-damaged", line: 2 }]);
  });

  it("refuses lines before any header, and lines without end", () => {
    expect(readerOf(ACTIVE).diagnostics()).toMatchObject([{ code: "kea-no-header", line: 1 }]);
    const reader = readerOf(`${HEADER4}${"x".repeat(100_000)}\n${ACTIVE}`);
    expect(reader.diagnostics()).toMatchObject([{ code: "kea-line-too-long", line: 2 }]);
    expect(reader.table.size).toBe(1);
  });

  it("waits for the end of an unfinished line", () => {
    const reader = readerOf(HEADER4 + ACTIVE.slice(0, 30));
    expect(reader.pendingTail).toBe(true);
    expect(reader.table.size).toBe(0);
    push(reader, ACTIVE.slice(30));
    expect(reader.pendingTail).toBe(false);
    expect(reader.table.size).toBe(1);
    const last = readerOf(HEADER4 + ACTIVE.trimEnd());
    last.finish(true);
    expect(last.table.size).toBe(1);
  });

  it("gives the same table for every cutting into chunks, and never throws", () => {
    const line = fc.oneof(
      fc.constantFrom(HEADER4, HEADER6, ACTIVE, "\n", "# comment\n"),
      fc.string().map((text) => `${text}\n`),
      fc
        .array(fc.constantFrom("10.0.0.1", "10.0.0.2", "0", "600", "1796000600", "", "x"), { maxLength: 12 })
        .map((all) => `${all.join()}\n`),
    );
    const file = fc.array(line, { maxLength: 20 }).map((lines) => new TextEncoder().encode(HEADER4 + lines.join("")));
    fc.assert(
      fc.property(file, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }), (octets, cuts) => {
        const whole = createKeaReader();
        whole.push(octets);
        const parts = createKeaReader();
        for (let at = 0, n = 0; at < octets.length; n++) {
          const end = at + (cuts[n % cuts.length] ?? 1);
          parts.push(octets.slice(at, end));
          at = end;
        }
        expect([...parts.table.leases()]).toEqual([...whole.table.leases()]);
        expect(parts.diagnostics()).toEqual(whole.diagnostics());
      }),
    );
  });
});

describe("the table", () => {
  it("tells changes once, and lapses by the clock in both directions", () => {
    const reader = readerOf(HEADER4 + ACTIVE);
    const { table } = reader;
    expect(table.takeChanges()).toEqual(["10.0.0.1"]);
    expect(table.takeChanges()).toEqual([]);
    expect(table.takeLapses(MS)).toEqual([]);
    expect(table.nextLapse(MS)).toBe(1_796_000_600_000);
    push(reader, ACTIVE.replace("1796000600", "1796000900"));
    expect(table.takeChanges()).toEqual(["10.0.0.1"]);
    expect(table.nextLapse(MS)).toBe(1_796_000_900_000);
    expect(table.takeLapses(1_796_000_900_000)).toEqual(["10.0.0.1"]);
    expect(table.takeLapses(MS)).toEqual(["10.0.0.1"]);
    expect(table.nextLapse(MS)).toBe(1_796_000_900_000);
  });

  it("knows what differs after a clean-up by another version", () => {
    const before = readerOf(HEADER4 + ACTIVE + ACTIVE.replace("10.0.0.1", "10.0.0.2")).table;
    const after = readerOf(
      HEADER4.replace("\n", ",pool_id\n") +
        ACTIVE.replace("\n", ",0\n") +
        ACTIVE.replace("10.0.0.1", "10.0.0.3").replace("\n", ",0\n"),
    ).table;
    expect([...after.changesFrom(before)].sort()).toEqual(["10.0.0.2", "10.0.0.3"]);
  });
});

describe("keaFilesBefore", () => {
  it("has the finished clean-up, or the last one and what was before it", () => {
    expect(keaFilesBefore("/k.csv")).toEqual([["/k.csv.completed"], ["/k.csv.2", "/k.csv.1"]]);
  });
});

function readerOf(text: string): LeaseReader {
  const reader = createKeaReader();
  push(reader, text);
  return reader;
}

function push(reader: LeaseReader, text: string): void {
  reader.push(new TextEncoder().encode(text));
}
