import { describe, expect, it } from "vitest";
import { leasesContract } from "../contract.js";
import type { LeaseReader } from "../reader.js";
import { createLeaseReader } from "./lease-reader.js";

const NOW = Date.parse("2026-11-01T00:00:00Z");
const ADDRESSES = 300;

/** The texts of the same few leases grow again and again, so that their records move, and the store is compacted, while blocks are read by the dozen. */
function growingLog(): string {
  let state = 11;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  return Array.from({ length: 6_000 }, (_, n) => {
    // Often the same address twice among a few blocks.
    const address = random(4) === 0 ? random(3) : random(ADDRESSES);
    const second = new Date(1_790_000_000_000 + n * 1000).toISOString().slice(0, 19).replaceAll("-", "/").replace("T", " ");
    const claim = "x".repeat(Math.min(1_000, 20 * random(Math.floor(n / 100) + 1)));
    const claims = claim === "" ? "" : `  set claim = "${claim}";\n  client-hostname "node-${random(3)}";\n`;
    const states = "  binding state active;\n  next binding state free;\n  rewind binding state free;\n";
    const times = `  starts 1 ${second};\n  ends 2 ${second};\n  cltt 1 ${second};\n`;
    return `lease 192.0.${address >> 8}.${address & 255} {\n${times}${states}  hardware ethernet 02:00:00:00:00:0${random(8)};\n${claims}}\n`;
  }).join("");
}

function read(bytes: Uint8Array, options: { readonly fastPath: boolean; readonly chunk: number }): LeaseReader {
  const reader = createLeaseReader({ fastPath: options.fastPath });
  for (let from = 0; from < bytes.length; from += options.chunk) reader.push(bytes.subarray(from, from + options.chunk));
  return reader;
}

function seen(reader: LeaseReader): unknown {
  return { ...leasesContract(reader, NOW), changes: reader.table.takeChanges(), skipped: reader.skippedDeclarations };
}

describe("records that move while blocks are read together", () => {
  const bytes = Buffer.from(growingLog(), "latin1");
  const general = seen(read(bytes, { fastPath: false, chunk: bytes.length }));

  it.each([1 << 24, 384 * 1024, 10_000])("hold what the general reader holds, in chunks of %i", (chunk) => {
    expect(seen(read(bytes, { fastPath: true, chunk }))).toEqual(general);
  });
});
