import { describe, expect, it } from "vitest";
import { aboutToWrite, judgeFile, NEW_MANAGED_FILE, UNDO_MAX, UNDO_WINDOW_MS, type ManagedFileRecord } from "./managed-file.js";

const edit = (digest: string) => ({ digest, isOurs: true });
const ours = aboutToWrite(NEW_MANAGED_FILE, "a");

/** Edits at these moments, each undone as long as that is allowed. */
function editAt(times: readonly number[]): { kinds: string[]; record: ManagedFileRecord } {
  let record = ours;
  const kinds = times.map((now, n) => {
    const standing = judgeFile(record, edit(`x${n}`), "a", now);
    if (standing.kind === "edited") record = aboutToWrite(standing.record, "a");
    if (standing.kind === "left") record = standing.record;
    return standing.kind;
  });
  return { kinds, record };
}

describe("judgeFile", () => {
  it("knows its own: nothing there, what is wanted, and everything that it wrote lately", () => {
    const record = aboutToWrite(ours, "b");
    for (const found of [null, edit("a"), edit("b"), edit("wanted")])
      expect(judgeFile(record, found, "wanted", 0)).toEqual({ kind: "ours" });
  });

  it("takes a file over that it never wrote, unless its header says that it did", () => {
    expect(judgeFile(NEW_MANAGED_FILE, { digest: "x", isOurs: false }, "a", 0).kind).toBe("stranger");
    expect(judgeFile(NEW_MANAGED_FILE, { digest: "x", isOurs: true }, "a", 0).kind).toBe("ours");
  });

  it("undoes edits a bounded number of times within an hour, then leaves the file alone for good", () => {
    const { kinds, record } = editAt([0, 1, 2, 3, 4, UNDO_WINDOW_MS * 5]);
    expect(kinds).toEqual([...new Array<string>(UNDO_MAX).fill("edited"), "left", "left", "left"]);
    expect(record.leftTo).toBe("x5");
  });

  it("undoes edits that are rare for ever", () => {
    const hours = [0, 1, 2, 3, 4, 5, 6].map((n) => n * (UNDO_WINDOW_MS / 2));
    expect(new Set(editAt(hours).kinds)).toEqual(new Set(["edited"]));
  });

  it("is not held up by edits of a future that a wrong clock saw", () => {
    const record = { ...ours, undone: [9e12, 9e12, 9e12] };
    expect(judgeFile(record, edit("x"), "a", 1000).kind).toBe("edited");
  });

  it("takes the file back when it is removed or put right", () => {
    const { record } = editAt([0, 1, 2, 3]);
    expect(judgeFile(record, null, "a", 4).kind).toBe("ours");
    expect(judgeFile(record, edit("a"), "a", 4).kind).toBe("ours");
    expect(aboutToWrite(record, "a").leftTo).toBeNull();
  });
});
