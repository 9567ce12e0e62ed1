import { describe, expect, it } from "vitest";
import type { CurrentProblem } from "../api/system.js";
import { noticesBetween, type NoticedState } from "./notice.js";

const AT = "2026-11-30T12:00:05.000Z";
const problem = (change: Partial<CurrentProblem> = {}): CurrentProblem => ({
  source: "rack",
  rack: "rack-1",
  daemon: null,
  code: "port-occupied",
  at: "udp 67",
  message: "pid 7 listens",
  since: "2026-11-30T12:00:01.000Z",
  ...change,
});
const state = (change: Partial<NoticedState> = {}): NoticedState => ({ problems: [], racks: [], ...change });

describe("what happened between two looks", () => {
  it("tells of problems that came and went, not of those that stay in other words", () => {
    const before = state({ problems: [problem(), problem({ at: "udp 68" })] });
    const after = state({ problems: [problem({ message: "pid 8 listens" }), problem({ rack: "rack-2" })] });
    expect(noticesBetween(before, after, AT)).toMatchObject([
      { type: "problem-raised", at: "2026-11-30T12:00:01.000Z", subject: "udp 67", detail: { rack: "rack-2" } },
      { type: "problem-cleared", at: AT, subject: "udp 68" },
    ]);
    expect(noticesBetween(before, before, AT)).toEqual([]);
  });

  it("gives the same problem another id when it comes again", () => {
    const [first, second] = ["2026-11-30T12:00:01.000Z", "2026-11-30T13:00:01.000Z"].map(
      (since) => noticesBetween(state(), state({ problems: [problem({ since })] }), AT)[0]?.id,
    );
    expect(first).not.toBe(second);
  });

  it("tells of racks that connect and fall silent; one that is forgotten is told by the audit log", () => {
    const racks = (connected: boolean) => state({ racks: [{ id: "r-1", name: "rack-1", connected }] });
    expect(noticesBetween(state(), racks(false), AT)).toEqual([]);
    expect(noticesBetween(state(), racks(true), AT)).toMatchObject([{ type: "rack-connected", subject: "rack rack-1" }]);
    expect(noticesBetween(racks(true), racks(false), AT)).toMatchObject([{ type: "rack-silent", detail: { rack: "r-1" } }]);
    expect(noticesBetween(racks(true), state(), AT)).toEqual([]);
  });
});
