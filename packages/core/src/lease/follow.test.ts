import { describe, expect, it } from "vitest";
import {
  checkFollow,
  judgeReread,
  stepFollow,
  type FollowPosition,
  type FollowSighting,
  type FollowState,
  type FollowWatching,
} from "./follow.js";

const position: FollowPosition = { identity: "1:7", offset: 100, modified: "5" };
const moment = { at: 1000, graceMs: 500 };
const following: FollowState = { kind: "following" };
const file = (over: Partial<FollowSighting & { kind: "file" }> = {}): FollowSighting => ({
  kind: "file",
  identity: "1:7",
  size: 100,
  modified: "5",
  ...over,
});

describe("stepFollow with a file at the path", () => {
  it.each([
    ["nothing was read yet", null, file(), { kind: "reread", reason: "first", drain: false }],
    ["nothing changed", position, file(), { kind: "none" }],
    ["it grew", position, file({ size: 101, modified: "6" }), { kind: "read" }],
    ["it was touched at equal length", position, file({ modified: "6" }), { kind: "read" }],
    ["it is shorter", position, file({ size: 99 }), { kind: "reread", reason: "shrunk", drain: false }],
    ["it is another file", position, file({ identity: "1:8" }), { kind: "reread", reason: "replaced", drain: true }],
    [
      "it is another, longer file",
      position,
      file({ identity: "1:8", size: 999 }),
      { kind: "reread", reason: "replaced", drain: true },
    ],
  ] as const)("%s", (_name, at, sighting, action) => {
    expect(stepFollow({ state: following, position: at }, sighting, moment)).toEqual({ state: following, action });
  });

  it("ends every trouble", () => {
    const states: FollowState[] = [
      { kind: "starting" },
      { kind: "missing", since: 1 },
      { kind: "lost", since: 1 },
      { kind: "failing", since: 1, problem: { code: "file-read-failed", at: "f", message: "m" } },
    ];
    for (const state of states) expect(stepFollow({ state, position }, file(), moment).state).toEqual(following);
  });

  it("leaves the wait for an unfinished file to the judge", () => {
    const settling: FollowState = { kind: "settling", since: 1, reason: "shrunk" };
    expect(stepFollow({ state: settling, position }, file(), moment).state).toEqual(settling);
  });
});

describe("stepFollow without a file", () => {
  it("drains the old descriptor and counts the time", () => {
    const first = stepFollow({ state: following, position }, { kind: "absent" }, moment);
    expect(first).toEqual({ state: { kind: "missing", since: 1000 }, action: { kind: "drain" } });
    const soon = stepFollow({ state: first.state, position }, { kind: "absent" }, { ...moment, at: 1499 });
    expect(soon.state).toEqual({ kind: "missing", since: 1000 });
    const late = stepFollow({ state: soon.state, position }, { kind: "absent" }, { ...moment, at: 1500 });
    expect(late.state).toEqual({ kind: "lost", since: 1000 });
    const later = stepFollow({ state: late.state, position }, { kind: "absent" }, { ...moment, at: 9000 });
    expect(later.state).toEqual({ kind: "lost", since: 1000 });
  });

  it("has nothing to drain when nothing was open", () => {
    expect(stepFollow({ state: { kind: "starting" }, position: null }, { kind: "absent" }, moment).action).toEqual({
      kind: "none",
    });
  });
});

describe("stepFollow when the look fails", () => {
  const problem = { code: "x", at: "f", message: "m" };

  it("names the trouble and keeps its beginning", () => {
    const first = stepFollow({ state: following, position }, { kind: "failed", blocked: true, problem }, moment);
    expect(first).toEqual({ state: { kind: "unreadable", since: 1000, problem }, action: { kind: "none" } });
    const again = stepFollow(
      { state: first.state, position },
      { kind: "failed", blocked: true, problem },
      { ...moment, at: 2000 },
    );
    expect(again.state).toMatchObject({ kind: "unreadable", since: 1000 });
    const other = stepFollow(
      { state: again.state, position },
      { kind: "failed", blocked: false, problem },
      { ...moment, at: 3000 },
    );
    expect(other.state).toMatchObject({ kind: "failing", since: 3000 });
  });
});

describe("judgeReread", () => {
  it.each([
    ["a whole smaller file", { declarations: 1, unfinished: false, quietMs: 0 }, 5, "swap"],
    ["an unfinished file that has as many", { declarations: 5, unfinished: true, quietMs: 0 }, 5, "swap"],
    ["an unfinished smaller file", { declarations: 4, unfinished: true, quietMs: 0 }, 5, "wait"],
    ["an empty file", { declarations: 0, unfinished: false, quietMs: 999 }, 5, "wait"],
    ["an empty file that stays so", { declarations: 0, unfinished: false, quietMs: 1000 }, 5, "swap"],
    ["an unfinished smaller file that stays so", { declarations: 4, unfinished: true, quietMs: 1000 }, 5, "swap"],
    ["an empty file where nothing was known", { declarations: 0, unfinished: false, quietMs: 0 }, 0, "swap"],
  ] as const)("%s", (_name, found, known, verdict) => {
    expect(judgeReread(found, known, 1000)).toBe(verdict);
  });
});

describe("checkFollow", () => {
  const codes = (state: FollowState, ...watching: FollowWatching[]): string[] =>
    checkFollow("/f", state, { watching: watching[0] ?? { kind: "events" }, freeBytes: null }).map(({ code }) => code);

  it("has nothing to say while all is well or may still be", () => {
    expect(codes(following)).toEqual([]);
    expect(codes({ kind: "missing", since: 0 })).toEqual([]);
  });

  it("warns before the disk is full", () => {
    const about = { watching: { kind: "events" }, freeBytes: 1_000_000 } as const;
    expect(checkFollow("/f", following, about)).toMatchObject([{ code: "leases-disk-full", at: "/f" }]);
    expect(checkFollow("/f", following, { ...about, freeBytes: 2_000_000 })).toEqual([]);
  });

  it("names every trouble", () => {
    const problem = { code: "x", at: "y", message: "m" };
    expect(codes({ kind: "lost", since: 0 })).toEqual(["leases-missing"]);
    expect(codes({ kind: "unreadable", since: 0, problem })).toEqual(["leases-unreadable"]);
    expect(codes({ kind: "failing", since: 0, problem })).toEqual(["leases-read-failed"]);
    expect(codes(following, { kind: "polling", reason: "network", detail: "NFS" })).toEqual(["leases-on-network-filesystem"]);
    expect(codes(following, { kind: "polling", reason: "unwatchable", detail: "ENOSPC" })).toEqual(["leases-unwatchable"]);
  });
});
