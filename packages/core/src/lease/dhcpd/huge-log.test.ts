import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createLeaseReader } from "./lease-reader.js";

interface HugeLog {
  readonly given: {
    readonly generate: {
      readonly blocks: number;
      readonly addresses: number;
      readonly statements_per_block: number;
      readonly state_cycle: readonly string[];
    };
  };
  readonly expect: { readonly leases: number };
}

const FILE = fileURLToPath(new URL("../../../../../test/fixtures/leases/cases/063-huge-append-log.json", import.meta.url));
const { given, expect: expected } = JSON.parse(readFileSync(FILE, "utf8")) as HugeLog;

/** Nine statements a block, as the case asks. */
function block(i: number): string {
  const address = `10.0.${(i % given.generate.addresses) >> 8}.${(i % given.generate.addresses) & 255}`;
  const state =
    given.generate.state_cycle[Math.floor(i / given.generate.addresses) % given.generate.state_cycle.length] ?? "active";
  const second = new Date(1_767_225_600_000 + i * 1000).toISOString().slice(0, 19).replaceAll("-", "/").replace("T", " ");
  const octet = (n: number): string => (n & 255).toString(16).padStart(2, "0");
  return `lease ${address} {
  starts 4 ${second};
  ends 4 ${second};
  cltt 4 ${second};
  binding state ${state};
  next binding state free;
  rewind binding state free;
  hardware ethernet 02:00:00:00:${octet(i >> 8)}:${octet(i)};
  uid "\\001\\002${i}";
  client-hostname "node-${i}";
}
`;
}

describe("case 063: a log of 200,000 blocks over 500 addresses", () => {
  it("is read whole, then an appended block alone, within bounded memory", () => {
    expect(given.generate.statements_per_block).toBe(9);
    const reader = createLeaseReader();
    for (let i = 0; i < given.generate.blocks; i += 1000) {
      const text = Array.from({ length: 1000 }, (_, k) => block(i + k)).join("");
      reader.push(Buffer.from(text, "latin1"));
    }
    expect(reader.table.size).toBe(expected.leases);
    expect(reader.diagnostics()).toEqual([]);
    expect(reader.table.takeChanges()).toHaveLength(expected.leases);

    const before = reader.offset;
    const appended = block(7);
    reader.push(Buffer.from(appended, "latin1"));
    // Only the new bytes were needed, and only the one lease is told.
    expect(reader.offset).toBe(before + appended.length);
    expect(reader.table.takeChanges()).toEqual(["10.0.0.7"]);
  });
});
