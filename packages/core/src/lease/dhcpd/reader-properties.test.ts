import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { leasesContract } from "../contract.js";
import { formatLeases } from "../format-leases.js";
import { decodeLatin1 } from "../octets.js";
import type { LeaseReader } from "../reader.js";
import { createLeaseReader } from "./lease-reader.js";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const runs = { numRuns: 400 };

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (character) => character.charCodeAt(0));

function read(bytes: Uint8Array, options: { fastPath?: boolean; cuts?: readonly number[]; final?: boolean } = {}): LeaseReader {
  const reader = createLeaseReader({ fastPath: options.fastPath ?? true });
  let from = 0;
  for (const cut of [...(options.cuts ?? []), bytes.length].toSorted((a, b) => a - b)) {
    reader.push(bytes.slice(from, Math.min(cut, bytes.length)));
    from = Math.min(cut, bytes.length);
  }
  reader.finish(options.final ?? false);
  return reader;
}

function seen(reader: LeaseReader): unknown {
  const rubouts = [...reader.table.rubouts];
  return JSON.parse(
    JSON.stringify({ ...leasesContract(reader, NOW), rubouts, skipped: reader.skippedDeclarations, family: reader.table.family }),
  );
}

const octet = fc.integer({ min: 0, max: 255 });
const blankless = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
const date = fc
  .integer({ min: 1_600_000_000, max: 2_000_000_000 })
  .map(
    (seconds) => `${seconds % 7} ${new Date(seconds * 1000).toISOString().slice(0, 19).replaceAll("-", "/").replace("T", " ")}`,
  );
const time = fc.oneof(
  { weight: 8, arbitrary: date },
  fc.constantFrom("never", "epoch 1735084800", "4 2024/02/30 10:00:00", "4 2024/13/01 1:2:3"),
);
const quoted = fc
  .array(fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) }, octet), { maxLength: 12 })
  .map((octets) => {
    const text = octets.map((code) => {
      if (code === 0x22 || code === 0x5c) return `\\${String.fromCharCode(code)}`;
      return code < 0x20 || code > 0x7e ? `\\${code.toString(8).padStart(3, "0")}` : String.fromCharCode(code);
    });
    return `"${text.join("")}"`;
  });
const mac = fc
  .array(octet, { minLength: 6, maxLength: 6 })
  .map((octets) => octets.map((o) => o.toString(16).padStart(2, "0")).join(":"));
const state = fc.constantFrom("active", "free", "expired", "released", "abandoned", "reset", "backup", "weird");

/** Statements in dhcpd's order and layout, each there or not: most blocks take the fast path, the others leave it somewhere. */
const lease = fc
  .record({
    ip: fc.integer({ min: 0, max: 40 }).map((n) => `192.0.2.${n}`),
    lines: fc
      .tuple(
        fc.option(time.map((t) => `  starts ${t};`)),
        fc.option(time.map((t) => `  ends ${t};`)),
        fc.option(
          time.map((t) => `  tstp ${t};`),
          { freq: 1 },
        ),
        fc.option(time.map((t) => `  cltt ${t};`)),
        fc.option(state.map((s) => `  binding state ${s};`)),
        fc.option(state.map((s) => `  next binding state ${s};`)),
        fc.option(
          state.map((s) => `  rewind binding state ${s};`),
          { freq: 1 },
        ),
        fc.option(fc.constantFrom("  reserved;", "  bootp;", "  dynamic-bootp;", "  abandoned;"), { freq: 1 }),
        fc.option(mac.map((m) => `  hardware ethernet ${m};`)),
        fc.option(quoted.map((q) => `  uid ${q};`)),
        fc.option(fc.tuple(blankless, quoted).map(([name, q]) => `  set ${name} = ${q};`)),
        fc.option(
          fc.constantFrom(
            "  option agent.remote-id 0:0:5e;",
            "  option agent.x 2;",
            "  set remote-handle = %4;",
            "  on expiry { x; }",
          ),
        ),
        fc.option(quoted.map((q) => `  client-hostname ${q};`)),
      )
      .map((lines) => lines.filter((line) => line !== null)),
    indent: fc.constantFrom("", "", "", "", " "),
    end: fc.constantFrom("\n", "\n", "\n", "\n", "\r\n"),
  })
  .map(({ ip, lines, indent, end }) => `${[`lease ${ip} {`, ...lines.map((line) => indent + line), "}"].join(end)}${end}`);

const ia = fc
  .tuple(
    fc.constantFrom("na", "ta", "pd"),
    fc.integer({ min: 0, max: 3 }),
    fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), time, state), { maxLength: 3 }),
  )
  .map(([type, id, entries]) => {
    const blocks = entries.map(([n, ends, is]) => {
      const place = type === "pd" ? `iaprefix 2001:db8:${n}::/56` : `iaaddr 2001:db8::${n}`;
      return `  ${place} {\n    binding state ${is};\n    preferred-life 540;\n    max-life 864;\n    ends ${ends};\n  }\n`;
    });
    return `ia-${type} "\\00${id}\\000\\000\\000\\000\\003\\000\\001\\000\\000^\\000S\\00${id}" {\n  cltt 3 2025/12/31 10:00:00;\n${blocks.join("")}}\n\n`;
  });

const host = fc
  .tuple(blankless, mac, fc.boolean(), quoted)
  .map(([name, m, deleted, q]) =>
    deleted
      ? `host ${name} {\n  dynamic;\n  deleted;\n}\n`
      : `host ${name} {\n  dynamic;\n  hardware ethernet ${m};\n  fixed-address 192.0.2.9;\n        supersede host-name = ${q};\n}\n`,
  );

const other = fc.constantFrom(
  '# a comment } { " ;\n',
  'server-duid "\\000\\001";\n\n',
  "authoring-byte-order big-endian;\n",
  '\nfailover peer "rack" state {\n  my state normal at 1 2026/11/30 11:46:15;\n  partner state recover at 1 2026/11/30 11:46:15;\n}\n',
  'foo "bar" { baz { qux; } }\n',
  "}\n",
  "\0\0\0",
  'class "a" {\n  match if x;\n}\n',
  "group {\n  host inner { hardware ethernet 02:00:00:00:00:01; }\n}\n",
);

const declaration = fc.oneof({ weight: 8, arbitrary: lease }, { weight: 2, arbitrary: ia }, host, other);
const file = fc.array(declaration, { maxLength: 20 }).map((declarations) => declarations.join(""));
/** The same with bytes overwritten, so that nothing about it is well formed. */
const damagedFile = fc
  .tuple(
    file,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(0x22, 0x7b, 0x7d, 0x3b, 0x0a, 0x5c, 0x23, 0x00, 0x20, 0xff, 0x6c)), {
      maxLength: 6,
    }),
  )
  .map(([text, changes]) => {
    const bytes = bytesOf(text);
    if (bytes.length > 0) for (const [at, value] of changes) bytes[at % bytes.length] = value;
    return bytes;
  });

describe("reading in any way", () => {
  it("gives the same for any chunks", () => {
    fc.assert(
      fc.property(damagedFile, fc.array(fc.nat(6000), { maxLength: 12 }), fc.boolean(), (bytes, cuts, final) => {
        expect(seen(read(bytes, { cuts, final }))).toEqual(seen(read(bytes, { final })));
      }),
      runs,
    );
  });

  it("gives the same byte by byte", () => {
    fc.assert(
      fc.property(damagedFile, (bytes) => {
        expect(seen(read(bytes, { cuts: Array.from(bytes, (_, i) => i) }))).toEqual(seen(read(bytes)));
      }),
      { numRuns: 60 },
    );
  });

  it("gives the same with and without the fast path", () => {
    fc.assert(
      fc.property(damagedFile, fc.array(fc.nat(6000), { maxLength: 3 }), (bytes, cuts) => {
        expect(seen(read(bytes, { cuts }))).toEqual(seen(read(bytes, { fastPath: false })));
      }),
      runs,
    );
  });

  it("tells every change, and the same ones for any chunks", () => {
    fc.assert(
      fc.property(damagedFile, damagedFile, fc.array(fc.nat(6000), { maxLength: 4 }), (first, second, cuts) => {
        const [whole, pieces] = [read(first), read(first, { cuts })];
        expect(pieces.table.takeChanges()).toEqual(whole.table.takeChanges());
        const before = new Map([...whole.table.leases()].map((one) => [one.key, JSON.stringify(seenLease(whole, one.key))]));
        whole.push(second);
        const told = new Set(whole.table.takeChanges());
        const after = new Map([...whole.table.leases()].map((one) => [one.key, JSON.stringify(seenLease(whole, one.key))]));
        for (const key of new Set([...before.keys(), ...after.keys()])) {
          if (before.get(key) !== after.get(key)) expect(told).toContain(key);
        }
      }),
      runs,
    );
  });
});

function seenLease(reader: LeaseReader, key: string): unknown {
  const { leases, leases6 } = leasesContract(reader, NOW);
  return leases[key] ?? leases6[key];
}

describe("damage", () => {
  /** Each declaration has an address of its own, so that what is lost is seen. */
  const numbered = fc
    .array(lease, { minLength: 3, maxLength: 8 })
    .map((blocks) => blocks.map((text, i) => text.replace(/192\.0\.2\.\d+/, `198.51.100.${i}`)));
  const junk = fc
    .array(fc.oneof(fc.constantFrom(0x22, 0x7b, 0x7d, 0x3b, 0x5c, 0x23, 0x00), octet), { minLength: 1, maxLength: 24 })
    .map((octets) => String.fromCharCode(...octets.filter((code) => code !== 0x0a)));

  it("of one declaration loses only that one", () => {
    fc.assert(
      fc.property(numbered, fc.nat(), fc.nat(), fc.nat(40), junk, (blocks, which, at, removed, inserted) => {
        const hurt = which % (blocks.length - 1);
        const whole = blocks[hurt] ?? "";
        const place = at % (whole.length - 1);
        const rest = whole.slice(Math.min(whole.length - 1, place + removed), -1);
        const broken = blocks.with(hurt, `${whole.slice(0, place)}${inserted}${rest}\n`);
        const expected = leasesContract(read(bytesOf(blocks.join(""))), NOW).leases;
        const got = leasesContract(read(bytesOf(broken.join(""))), NOW).leases;
        for (const key of Object.keys(expected)) if (key !== `198.51.100.${hurt}`) expect(got[key]).toEqual(expected[key]);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("printing", () => {
  it("and reading again is the same table", () => {
    fc.assert(
      fc.property(file, (text) => {
        const reader = read(bytesOf(text));
        const printed = [...formatLeases(reader.table)].join("");
        const again = read(bytesOf(printed));
        const { diagnostics: _, ...expected } = leasesContract(reader, NOW);
        expect(leasesContract(again, NOW)).toMatchObject({ ...expected, pending_tail: false });
        expect(new Set(again.table.rubouts)).toEqual(new Set(reader.table.rubouts));
        expect(again.table.changesFrom(reader.table)).toEqual([]);
        expect([...formatLeases(again.table)].join("")).toBe(printed);
      }),
      runs,
    );
  });
});

describe("hostile input", () => {
  const size = 1.5 * 1024 * 1024;
  // Each would take hours if anything in it were looked at more than a few times.
  it.each([
    ["a string that never ends", `lease 192.0.2.1 { uid "${"x".repeat(size)}`],
    ["only quotes", '"'.repeat(size)],
    ["only opening braces", "{".repeat(size)],
    ["only closing braces", "}".repeat(size)],
    ["only semicolons", ";".repeat(size)],
    ["statements without a line end", "a;".repeat(size / 2)],
    ["lines that almost begin a declaration", "x {\nlease \nlease ".repeat(size / 16)],
    ["backslashes in a string", `host "${"\\".repeat(size)}`],
    ["an endless comment", `#${"#".repeat(size)}`],
    ["comments behind statements", "a #\n;".repeat(size / 5)],
    ["blocks that are cut off", "lease 192.0.2.1 {\n  binding\n".repeat(size / 28)],
    ["one block without end", `lease 192.0.2.1 {\n${"  a;\n".repeat(size / 5)}`],
    ["addresses that are far apart", Array.from({ length: 60_000 }, (_, i) => `lease ${i >> 8}.${i & 255}.0.0 {\n}\n`).join("")],
    ["NUL bytes", "\0".repeat(size)],
    [
      "one IA with ever more addresses",
      Array.from({ length: 20_000 }, (_, i) => `ia-na "aaaaa" { iaaddr 2001:db8::${i.toString(16)} {} }\n`).join(""),
    ],
  ])("%s is read in linear time", (_, text) => {
    const bytes = bytesOf(text);
    const cuts = Array.from({ length: Math.ceil(bytes.length / 4096) }, (_unused, i) => i * 4096);
    const reader = read(bytes, { cuts, final: true });
    expect(reader.offset).toBe(bytes.length);
    expect(reader.diagnostics().length).toBeLessThan(300);
    expect(decodeLatin1(bytesOf(JSON.stringify(reader.diagnostics()))).length).toBeLessThan(100_000);
  });
});
