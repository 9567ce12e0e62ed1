import type { FollowPosition } from "@berth/core";
import type { FollowedFile, FollowFiles } from "@berth/host";

/**
 * One piece of a large read. There are two: while one is understood, another thread fetches the next. Each costs a turn of the event loop and the waking of that
 * thread, so they are not small; both together stay in the processor's own cache, so they are not large.
 */
const PIECE_BYTES = 384 * 1024;
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
    anchor = bytes.length < ANCHOR_BYTES ? lastOf(anchor, bytes.subarray(kept)) : bytes.slice(-ANCHOR_BYTES);
  };
  return {
    get position() {
      return { identity, offset, modified };
    },
    async readOn(seen, feed) {
      const few = seen.size - offset < SMALL_BYTES - ANCHOR_BYTES;
      let [buffer, other] = few ? [file.readNow === undefined ? new Uint8Array(SMALL_BYTES) : small, null] : twoPieces();
      let kept = anchor.length;
      let position = offset - kept;
      for (let answer = file.read(buffer, position); ; ) {
        const count = typeof answer === "number" ? answer : await answer;
        if (count < kept || (kept > 0 && !startsWith(buffer, anchor))) {
          modified = ""; // so that the next look reads again, even where the time of modification is too coarse to tell
          return "overwritten";
        }
        const whole = count === buffer.length;
        position += count;
        const ahead = whole && other !== null ? file.read(other, position) : null;
        if (count > kept) pass(buffer.subarray(0, count), kept, feed);
        if (!whole) {
          modified = seen.modified;
          return "end";
        }
        kept = 0;
        if (other !== null) [buffer, other] = [other, buffer];
        answer = ahead ?? file.read(buffer, position);
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

function twoPieces(): [Uint8Array, Uint8Array | null] {
  return [new Uint8Array(PIECE_BYTES), new Uint8Array(PIECE_BYTES)];
}

/** The last {@link ANCHOR_BYTES} of both. */
function lastOf(before: Uint8Array, bytes: Uint8Array): Uint8Array {
  const both = new Uint8Array(before.length + bytes.length);
  both.set(before);
  both.set(bytes, before.length);
  return both.slice(-ANCHOR_BYTES);
}

function startsWith(buffer: Uint8Array, anchor: Uint8Array): boolean {
  for (let i = 0; i < anchor.length; i++) if (buffer[i] !== anchor[i]) return false;
  return true;
}
