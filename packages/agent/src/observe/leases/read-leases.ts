import { createKeaReader, createLeaseReader, isKeaHead, keaFilesBefore, type LeaseReader } from "@berth/core";
import type { FollowFiles } from "@berth/host";
import { openReading, readFilesBefore, type ReadingSource } from "./reading.js";

const HEAD_BYTES = 64;

/**
 * Whose the file at that path is, null where nothing tells: one that is missing or empty is Kea's where those beside it are, because Kea's clean-up moves the file
 * away and begins a new one.
 */
export async function leasesWriter(path: string, files: Pick<FollowFiles, "open">): Promise<"dhcpd" | "kea" | null> {
  for (const one of [path, ...keaFilesBefore(path).flat()]) {
    const head = await headOf(one, files);
    if (head.length > 0) return isKeaHead(head) ? "kea" : "dhcpd";
  }
  return null;
}

/** Nothing of a file that is missing or empty. */
async function headOf(path: string, files: Pick<FollowFiles, "open">): Promise<Uint8Array> {
  const file = await files.open(path);
  if (file === null) return new Uint8Array();
  try {
    const head = new Uint8Array(HEAD_BYTES);
    return head.subarray(0, await file.read(head, 0));
  } finally {
    await file.close();
  }
}

/** Reads a leases file of dhcpd or Kea once to its end; Kea's with the files that belong before it. `final`: it gets no more. */
export async function readLeases(
  path: string,
  final: boolean,
  files: FollowFiles,
): Promise<{ readonly reader: LeaseReader; readonly missing: boolean }> {
  for (;;) {
    const seen = await files.stamp(path);
    const source = sourceOf(path, (await leasesWriter(path, files)) === "kea");
    const reading = seen === null ? null : await openReading(files, source, seen);
    if (reading !== null) {
      await reading.tail.close();
      reading.reader.finish(final);
      return { reader: reading.reader, missing: false };
    }
    // Kea's clean-up may have exchanged its files meanwhile: again, unless there is none.
    if ((await files.stamp(path)) !== null) continue;
    const before = await readFilesBefore(files, source);
    if (before === "exchanged") continue;
    before?.finish(final);
    return { reader: before ?? source.createReader(), missing: before === null };
  }
}

/** The same of bytes that come from anywhere, as `zcat` gives them; of Kea's this is the one file alone. */
export async function readLeasesStream(pieces: AsyncIterable<Uint8Array>, final: boolean): Promise<LeaseReader> {
  let reader: LeaseReader | null = null;
  let head = new Uint8Array();
  for await (const piece of pieces) {
    if (reader === null) {
      head = Uint8Array.from([...head, ...piece]);
      if (head.length < HEAD_BYTES) continue;
      reader = createReaderFor(head);
      reader.push(head);
    } else reader.push(piece);
  }
  if (reader === null) {
    reader = createReaderFor(head);
    reader.push(head);
  }
  reader.finish(final);
  return reader;
}

function createReaderFor(head: Uint8Array): LeaseReader {
  return isKeaHead(head) ? createKeaReader() : createLeaseReader();
}

function sourceOf(path: string, kea: boolean): ReadingSource {
  return kea
    ? { path, createReader: createKeaReader, filesBefore: keaFilesBefore(path) }
    : { path, createReader: createLeaseReader, filesBefore: [] };
}
