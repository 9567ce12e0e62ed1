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
  close(): Promise<void>;
}

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
  return {
    get position() {
      return { identity, offset, modified };
    },
    async readOn(seen, feed) {
      // A buffer of its own where reads are large: `small` must not change while another tail waits for its disk.
      const buffer = seen.size - offset < SMALL_BYTES - ANCHOR_BYTES ? small : new Uint8Array(BLOCK_BYTES);
      for (;;) {
        const kept = anchor.length;
        const answer = file.read(buffer, offset - kept);
        const count = typeof answer === "number" ? answer : await answer;
        if (count < kept || !startsWith(buffer, anchor)) {
          modified = ""; // so that the next look reads again, even where the time of modification is too coarse to tell
          return "overwritten";
        }
        if (count > kept) {
          feed(buffer.subarray(kept, count));
          offset += count - kept;
          anchor = buffer.slice(Math.max(0, count - ANCHOR_BYTES), count);
        }
        if (count < buffer.length) {
          modified = seen.modified;
          return "end";
        }
      }
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
