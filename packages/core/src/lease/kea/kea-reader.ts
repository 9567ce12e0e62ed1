import { Diagnostics, printableAscii } from "../diagnostics.js";
import { decodeLatin1, decodeUtf8 } from "../octets.js";
import type { LeaseReader } from "../reader.js";
import { parseKeaHeader, parseKeaLine, type KeaColumns } from "./kea-line.js";
import { KeaTable } from "./kea-table.js";

/** Octets of one line; user contexts are the only thing that can be long, and Kea's own are a few hundred. */
const LINE_MAX = 64 * 1024;
const NEWLINE = 10;

/**
 * Reads Kea's memfile lease files (DHCPv4 and DHCPv6): the last line of an address wins, a lifetime of 0 deletes. Several files of one set
 * may be pushed one after the other, oldest first, each with a newline behind it: every header line sets the columns anew.
 */
export function createKeaReader(): LeaseReader {
  const table = new KeaTable();
  const diagnostics = new Diagnostics();
  let columns: KeaColumns | null = null;
  let tail: Uint8Array = new Uint8Array();
  let tooLong = false;
  let offset = 0;
  let lines = 0;
  let skipped = 0;

  const skip = (code: string, message: string): void => {
    skipped += 1;
    diagnostics.add(code, () => lines, message);
  };

  const takeLine = (octets: Uint8Array): void => {
    lines += 1;
    const line = (decodeUtf8(octets) ?? decodeLatin1(octets)).replace(/\r$/, "");
    if (line === "" || line.startsWith("#")) return;
    const header = parseKeaHeader(line);
    if (header !== null) {
      columns = sameHeader(columns, header) ? columns : header;
      table.family = header.family;
      return;
    }
    if (columns === null) {
      skip("kea-no-header", "a line stands before the names of the columns");
      return;
    }
    const read = parseKeaLine(line, columns);
    if (read.kind === "lease") table.put(read.lease, line, columns);
    else if (read.kind === "deleted") table.remove(read.key);
    else skip("kea-line-damaged", `a line cannot be used, ${read.why}: ${printableAscii(line)}`);
  };

  const keep = (rest: Uint8Array): void => {
    if (tooLong || tail.length + rest.length <= LINE_MAX) {
      if (!tooLong) tail = joined(tail, rest);
      return;
    }
    tooLong = true;
    tail = new Uint8Array();
  };

  const endLine = (rest: Uint8Array): void => {
    keep(rest);
    const line = tail;
    tail = new Uint8Array();
    if (!tooLong) {
      takeLine(line);
      return;
    }
    tooLong = false;
    lines += 1;
    skip("kea-line-too-long", `a line is longer than ${LINE_MAX} octets`);
  };

  return {
    table,
    push(chunk) {
      offset += chunk.length;
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        endLine(chunk.subarray(start, end));
        start = end + 1;
      }
      if (start < chunk.length) keep(chunk.subarray(start));
    },
    finish(final) {
      if (final && (tail.length > 0 || tooLong)) endLine(new Uint8Array());
    },
    get offset() {
      return offset;
    },
    get pendingTail() {
      return tail.length > 0 || tooLong;
    },
    get skippedDeclarations() {
      return skipped;
    },
    diagnostics: () => diagnostics.all(),
  };
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length); // a copy: the caller's buffer is overwritten by its next read
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** The same object for the same columns, so that equal lines of two files are equal leases. */
function sameHeader(before: KeaColumns | null, next: KeaColumns): boolean {
  return before !== null && [...before.at.keys()].join() === [...next.at.keys()].join();
}
