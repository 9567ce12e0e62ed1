import { createLeaseReader, formatLeases, leasesContract, toLeaseReport, type LeaseReader } from "@berth/core";

const NOW = Date.parse("2026-11-30T11:47:15Z");

function read(bytes: Uint8Array, chunk: number, fastPath: boolean, final: boolean): LeaseReader {
  const reader = createLeaseReader({ fastPath });
  for (let at = 0; at < bytes.length; at += chunk) reader.push(bytes.slice(at, at + chunk));
  reader.finish(final);
  return reader;
}

function shown(reader: LeaseReader): string {
  return JSON.stringify({
    ...leasesContract(reader, NOW),
    skipped: reader.skippedDeclarations,
    rubouts: [...reader.table.rubouts],
  });
}

/**
 * Everything that must hold of any bytes: no throw; the same result in one piece, in small pieces, and without the fast path; what is understood can be printed and
 * read again; reports can be made. Answers what does not hold, or null.
 */
export function checkLeases(bytes: Uint8Array, random: (below: number) => number): string | null {
  const final = random(2) === 1;
  const whole = read(bytes, Math.max(1, bytes.length), true, final);
  const first = shown(whole);
  if (shown(read(bytes, 1 + random(700), true, final)) !== first) return "pieces give another result";
  if (shown(read(bytes, Math.max(1, bytes.length), false, final)) !== first) return "the fast path gives another result";
  const printed = [...formatLeases(whole.table)].join("");
  const again = read(Buffer.from(printed, "latin1"), 4096, true, true);
  const differing = again.table.changesFrom(whole.table);
  if (differing.length > 0) return `printed and read again differs: ${differing.slice(0, 3).join(", ")}`;
  for (const lease of whole.table.leases()) toLeaseReport(lease, NOW);
  const lapse = whole.table.nextLapse(NOW);
  if (lapse !== null && !(lapse > NOW)) return "the next lapse is not after now";
  return null;
}
