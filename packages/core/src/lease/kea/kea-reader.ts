import { Diagnostics, printableAscii } from "../diagnostics.js";
import { decodeLatin1, decodeUtf8 } from "../octets.js";
import type { LeaseDiagnostic } from "../model.js";
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
  return new KeaReader();
}

class KeaReader implements LeaseReader {
  readonly table = new KeaTable();
  offset = 0;
  skippedDeclarations = 0;
  readonly #diagnostics = new Diagnostics();
  #columns: KeaColumns | null = null;
  /** The line that has not ended yet; empty once it is too long to be one. */
  #tail: Uint8Array = new Uint8Array();
  #tooLong = false;
  #lines = 0;

  get pendingTail(): boolean {
    return this.#tail.length > 0 || this.#tooLong;
  }

  diagnostics(): readonly LeaseDiagnostic[] {
    return this.#diagnostics.all();
  }

  push(chunk: Uint8Array): void {
    this.offset += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  finish(final: boolean): void {
    if (final && this.pendingTail) this.#endLine();
  }

  #keep(part: Uint8Array): void {
    if (this.#tooLong) return;
    this.#tooLong = this.#tail.length + part.length > LINE_MAX;
    this.#tail = this.#tooLong ? new Uint8Array() : joined(this.#tail, part);
  }

  #endLine(): void {
    const line = this.#tail;
    this.#tail = new Uint8Array();
    this.#lines += 1;
    if (this.#tooLong) this.#skip("kea-line-too-long", `a line is longer than ${LINE_MAX} octets`);
    else this.#takeLine((decodeUtf8(line) ?? decodeLatin1(line)).replace(/\r$/, ""));
    this.#tooLong = false;
  }

  #takeLine(line: string): void {
    if (line === "" || line.startsWith("#")) return;
    const header = parseKeaHeader(line);
    if (header !== null) {
      this.#columns = sameHeader(this.#columns, header) ? this.#columns : header;
      this.table.family = header.family;
      return;
    }
    if (this.#columns === null) {
      this.#skip("kea-no-header", "a line stands before the names of the columns");
      return;
    }
    const read = parseKeaLine(line, this.#columns);
    if (read.kind === "lease") this.table.put(read.lease, line, this.#columns);
    else if (read.kind === "deleted") this.table.remove(read.key);
    else this.#skip("kea-line-damaged", `a line cannot be used, ${read.why}: ${printableAscii(line)}`);
  }

  #skip(code: string, message: string): void {
    this.skippedDeclarations += 1;
    this.#diagnostics.add(code, () => this.#lines, message);
  }
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
