import type { FollowPosition } from "@berth/core";
import type { FollowedFile, FollowFiles } from "@berth/host";

/** One block of a large read. */
const BLOCK_BYTES = 1024 * 1024;
/** What dhcpd appends at a time is far smaller than this; such reads are done in the same turn. */
const SMALL_BYTES = 64 * 1024;
/** How much of what was read last is compared before reading on: enough to hold times and a hardware address of the last record. */
const ANCHOR_BYTES = 256;

/** An open file that is read to its end again and again. */
export interface Tail {
  readonly position: FollowPosition;
  /**
   * Passes on what was added since, up to the end of the file. Answers `overwritten` when what stands before the offset is no longer
   * what was read there: then nothing of it was passed on.
   */
  readOn(
    seen: { readonly size: number; readonly modified: string },
    feed: (bytes: Uint8Array) => void,
  ): Promise<"end" | "overwritten">;
  /**
   * The same at once and without any promise, for one small append to a file on a local disk. Answers whether something was passed on; if
   * not, {@link readOn} finds out why.
   */
  readNow(feed: (bytes: Uint8Array) => void): boolean;
  close(): Promise<void>;
}

/** For reads that end in the turn in which they begin. */
const small = new Uint8Array(SMALL_BYTES);

/** Null when there is no such file. */
export async function openTail(files: FollowFiles, path: string): Promise<Tail | null> {
  const file = await files.open(path);
  if (file === null) return null;
  try {
    const { identity } = await file.stamp();
    return createTail(file, identity);
  } catch (error) {
    await file.close();
    throw error;
  }
}

function createTail(file: FollowedFile, identity: string): Tail {
  let offset = 0;
  let modified = "";
  let anchor: Uint8Array = new Uint8Array();
  const pass = (bytes: Uint8Array, kept: number, feed: (bytes: Uint8Array) => void): void => {
    feed(bytes.subarray(kept));
    offset += bytes.length - kept;
    anchor = bytes.slice(-ANCHOR_BYTES);
  };
  return {
    get position() {
      return { identity, offset, modified };
    },
    async readOn(seen, feed) {
      const few = seen.size - offset < SMALL_BYTES - ANCHOR_BYTES;
      const buffer = few && file.readNow !== undefined ? small : new Uint8Array(few ? SMALL_BYTES : BLOCK_BYTES);
      for (;;) {
        const kept = anchor.length;
        const answer = file.read(buffer, offset - kept);
        const count = typeof answer === "number" ? answer : await answer;
        if (count < kept || !startsWith(buffer, anchor)) {
          modified = ""; // so that the next look reads again, even where the time of modification is too coarse to tell
          return "overwritten";
        }
        if (count > kept) pass(buffer.subarray(0, count), kept, feed);
        if (count < buffer.length) {
          modified = seen.modified;
          return "end";
        }
      }
    },
    readNow(feed) {
      const kept = anchor.length;
      const count = file.readNow?.(small, offset - kept) ?? 0;
      if (count <= kept || count === small.length || !startsWith(small, anchor)) return false;
      pass(small.subarray(0, count), kept, feed);
      return true;
    },
    async close() {
      await file.close();
    },
  };
}

function startsWith(buffer: Uint8Array, anchor: Uint8Array): boolean {
  for (let i = 0; i < anchor.length; i++) if (buffer[i] !== anchor[i]) return false;
  return true;
}
