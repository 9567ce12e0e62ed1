import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLeaseReader } from "../dhcpd/lease-reader.js";
import { toLeaseReport } from "../lease-report.js";
import type { LeaseReader } from "../reader.js";
import { inUseAt } from "../standing.js";

const T0 = Date.parse("2026-01-01T00:00:00Z");

function feed(reader: LeaseReader, ...texts: readonly string[]): void {
  for (const text of texts) reader.push(Buffer.from(text, "latin1"));
}

/** `ends` in seconds after T0. */
function block(address: string, ends: number | "never", more = ""): string {
  const at = ends === "never" ? "never" : `epoch ${T0 / 1000 + ends}`;
  return `lease ${address} {\n  ends ${at};\n  binding state active;\n${more}}\n`;
}

function ia(address: string, ends: number, id = 1): string {
  return `ia-na "\\00${id}\\000\\000\\000\\000\\003\\000\\001\\000\\000^\\000S\\00${id}" {\n  iaaddr ${address} {\n    binding state active;\n    ends epoch ${T0 / 1000 + ends};\n  }\n}\n`;
}

describe("lapses", () => {
  it("come in the order of the clock, and a renewal takes them back", () => {
    const reader = createLeaseReader();
    feed(reader, block("192.0.2.1", 60), block("192.0.2.2", 30), block("192.0.2.3", "never"), ia("2001:db8::1", 45));
    const { table } = reader;
    expect(table.takeLapses(T0)).toEqual([]);
    expect(table.nextLapse(T0)).toBe(T0 + 30_000);
    expect(table.takeLapses(T0 + 30_000)).toEqual(["192.0.2.2"]);
    expect(table.nextLapse(T0 + 30_000)).toBe(T0 + 45_000);
    feed(reader, block("192.0.2.1", 600));
    expect(table.takeLapses(T0 + 61_000)).toEqual(["2001:db8::1"]);
    expect(table.nextLapse(T0 + 61_000)).toBe(T0 + 600_000);
    expect(table.takeLapses(T0 + 601_000)).toEqual(["192.0.2.1"]);
    expect(table.nextLapse(T0 + 601_000)).toBeNull();
  });

  it("are taken back when the clock is set back", () => {
    const reader = createLeaseReader();
    feed(reader, block("192.0.2.1", 60));
    reader.table.takeLapses(T0);
    expect(reader.table.takeLapses(T0 + 90_000)).toEqual(["192.0.2.1"]);
    expect(reader.table.takeLapses(T0)).toEqual(["192.0.2.1"]);
    expect(reader.table.nextLapse(T0)).toBe(T0 + 60_000);
  });

  it("agree with looking at every lease, for any history of renewals and clock steps", () => {
    const step = fc.oneof(
      fc.record({ address: fc.integer({ min: 0, max: 5 }), ends: fc.integer({ min: -50, max: 200 }) }),
      fc.record({ clock: fc.integer({ min: -60, max: 120 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const reader = createLeaseReader();
        const { table } = reader;
        let now = T0;
        table.takeLapses(now);
        for (const one of steps) {
          if ("ends" in one) {
            feed(reader, block(`192.0.2.${one.address}`, (now - T0) / 1000 + one.ends));
          } else {
            const before = new Map([...table.leases()].map((lease) => [lease.key, inUseAt(lease, now)]));
            now += one.clock * 1000;
            const flipped = [...table.leases()].filter((lease) => inUseAt(lease, now) !== before.get(lease.key));
            expect(table.takeLapses(now).toSorted()).toEqual(flipped.map((lease) => lease.key).toSorted());
          }
          const ends = [...table.leases()].filter((lease) => inUseAt(lease, now)).map((lease) => Number(lease.ends) * 1000);
          expect(table.nextLapse(now)).toBe(ends.length === 0 ? null : Math.min(...ends));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("the hardware index", () => {
  it("finds all addresses of one machine, and forgets what changed hands", () => {
    const reader = createLeaseReader();
    const of = (mac: string): string => `  hardware ethernet ${mac};\n`;
    feed(
      reader,
      block("192.0.2.1", 60, of("02:00:00:00:00:0A")),
      block("192.0.2.2", 60, of("2:0:0:0:0:a")),
      ia("2001:db8::1", 60),
    );
    expect(reader.table.keysOfHardware("02:00:00:00:00:0a")).toEqual(["192.0.2.1", "192.0.2.2"]);
    expect(reader.table.keysOfHardware("00:00:5e:00:53:01")).toEqual(["2001:db8::1"]);
    feed(reader, block("192.0.2.1", 60, of("02:00:00:00:00:0b")));
    expect(reader.table.keysOfHardware("02:00:00:00:00:0a")).toEqual(["192.0.2.2"]);
    expect(reader.table.keysOfHardware("02:00:00:00:00:0b")).toEqual(["192.0.2.1"]);
  });

  it("agrees with looking at every lease", () => {
    const grant = fc.tuple(fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 0, max: 40 }));
    fc.assert(
      fc.property(fc.array(fc.array(grant, { maxLength: 400 }), { maxLength: 3 }), (rounds) => {
        const reader = createLeaseReader();
        const holders = new Map<string, number>();
        for (const round of rounds) {
          for (const [address, client] of round) {
            const key = `10.0.${address >> 8}.${address & 255}`;
            holders.set(key, client);
            feed(reader, block(key, 60, `  hardware ethernet 02:00:00:00:00:${client.toString(16).padStart(2, "0")};\n`));
          }
          for (let client = 0; client <= 40; client++) {
            const expected = [...holders].filter(([, holder]) => holder === client).map(([key]) => key);
            const found = reader.table.keysOfHardware(`02:00:00:00:00:${client.toString(16).padStart(2, "0")}`);
            expect(found.toSorted()).toEqual(expected.toSorted());
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  it("never takes an InfiniBand or other address for an Ethernet one", () => {
    const reader = createLeaseReader();
    feed(reader, block("192.0.2.1", 60, "  hardware unknown-32 02:00:00:00:00:0a;\n"));
    expect(reader.table.keysOfHardware("02:00:00:00:00:0a")).toEqual([]);
  });
});

describe("changes", () => {
  it("are told once, and not for a block that says the same again", () => {
    const reader = createLeaseReader();
    feed(reader, block("192.0.2.1", 60), block("192.0.2.2", 60));
    expect(reader.table.takeChanges()).toEqual(["192.0.2.1", "192.0.2.2"]);
    feed(reader, block("192.0.2.1", 60));
    expect(reader.table.takeChanges()).toEqual([]);
    feed(reader, block("192.0.2.1", 61), block("192.0.2.1", 62));
    expect(reader.table.takeChanges()).toEqual(["192.0.2.1"]);
  });

  it("tell an IPv6 address that its IA let go, and one that changed hands once", () => {
    const reader = createLeaseReader();
    feed(reader, ia("2001:db8::1", 60), ia("2001:db8::2", 60, 2));
    reader.table.takeChanges();
    feed(reader, ia("2001:db8::3", 60));
    expect(new Set(reader.table.takeChanges())).toEqual(new Set(["2001:db8::1", "2001:db8::3"]));
    expect(reader.table.get("2001:db8::1")).toBeNull();
    feed(reader, ia("2001:db8::3", 60, 2));
    expect(new Set(reader.table.takeChanges())).toEqual(new Set(["2001:db8::2", "2001:db8::3"]));
    feed(reader, ia("2001:db8::4", 60));
    expect(reader.table.get("2001:db8::3")).toMatchObject({ iaid: 2 });
  });

  it("tell all leases when the first failover peer is declared", () => {
    const reader = createLeaseReader();
    feed(reader, block("192.0.2.1", 60));
    reader.table.takeChanges();
    feed(reader, 'failover peer "x" state {\n  my state normal at 1 2026/11/30 11:46:15;\n}\n');
    expect(reader.table.takeChanges()).toEqual(["192.0.2.1"]);
  });

  it("keep memory in step with what is kept, whatever the number of blocks", () => {
    const reader = createLeaseReader();
    for (let i = 0; i < 400; i++) {
      const name = "n".repeat(1 + ((i * 37) % 1500));
      feed(reader, ...Array.from({ length: 40 }, (_, a) => block(`10.0.0.${a}`, i, `  client-hostname "${name}${i}";\n`)));
    }
    const lease = reader.table.get("10.0.0.39");
    expect(lease?.family === 4 && lease.clientHostname?.length).toBe(1 + ((399 * 37) % 1500) + 3);
    expect(reader.table.size).toBe(40);
  });
});

describe("a report", () => {
  it("says what the coordinator may know of a lease", () => {
    const reader = createLeaseReader();
    feed(
      reader,
      block("192.0.2.1", 60, '  hardware ethernet 2:0:0:0:0:a;\n  client-hostname "Node-1";\n'),
      ia("2001:db8::1", 60),
    );
    const lease = reader.table.get("192.0.2.1");
    expect(lease === null ? null : toLeaseReport(lease, T0)).toEqual({
      address: "192.0.2.1",
      state: "active",
      inUse: true,
      allocatable: false,
      hardwareAddress: "02:00:00:00:00:0a",
      dnsLabel: "node-1",
      starts: null,
      ends: T0 / 1000 + 60,
    });
    feed(reader, 'ia-pd "aaaaa" {\n  iaprefix 2001:db8:1::/56 {\n    binding state active;\n    ends never;\n  }\n}\n');
    const prefix = reader.table.get("2001:db8:1::/56");
    expect(prefix === null ? undefined : toLeaseReport(prefix, T0)).toBeNull();
  });
});
