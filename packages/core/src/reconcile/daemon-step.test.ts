import { describe, expect, it } from "vitest";
import { recordFailure, RESTART_INTERVAL_MS, stepDaemon, type DaemonHistory } from "./daemon-step.js";

const fresh: DaemonHistory = { failure: null, startedAt: null };

describe("stepDaemon", () => {
  it.each([
    [null, null, null, "nothing"],
    [null, "a", null, "nothing"],
    [null, "a", "a", "stop"],
    ["a", null, null, "activate"],
    ["b", "a", "a", "activate"],
    ["a", "a", null, "start"],
    ["b", "b", "a", "start"],
    ["a", "a", "a", "nothing"],
    // A foreign edit or loss of the file while our content runs: the file is ours again, and nobody notices.
    ["a", "x", "a", "rewrite"],
    ["a", null, "a", "rewrite"],
  ])("desired %s, written %s, running %s: %s", (desired, written, running, expected) => {
    expect(stepDaemon({ desired, written, running }, fresh, 10_000)).toEqual({ do: expected });
  });

  it("puts a restart off that comes too soon after the last, so that several become one", () => {
    const history = { failure: null, startedAt: 10_000 };
    const facts = { desired: "b", written: "a", running: "a" };
    expect(stepDaemon(facts, history, 10_100)).toEqual({ do: "wait", ms: RESTART_INTERVAL_MS - 100 });
    expect(stepDaemon(facts, history, 10_000 + RESTART_INTERVAL_MS)).toEqual({ do: "activate" });
  });

  it("never puts a change off for longer than the interval, however fast changes come", () => {
    let history = fresh;
    let starts = 0;
    for (let now = 0; now < 10_000; now += 20) {
      const step = stepDaemon({ desired: `${now}`, written: "a", running: "a" }, history, now);
      if (step.do === "wait") continue;
      starts++;
      history = { ...history, startedAt: now };
    }
    expect(starts).toBe(10_000 / RESTART_INTERVAL_MS);
  });

  it("retries failing content with pauses that double up to a minute, and other content at once", () => {
    let history = fresh;
    const pauses: number[] = [];
    for (let i = 0; i < 9; i++) {
      history = recordFailure(history, "b", 0);
      const step = stepDaemon({ desired: "b", written: "a", running: "a" }, history, 0);
      pauses.push(step.do === "wait" ? step.ms : -1);
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(stepDaemon({ desired: "c", written: "a", running: "a" }, history, 0)).toEqual({ do: "activate" });
    expect(stepDaemon({ desired: "b", written: "a", running: "a" }, history, 60_000)).toEqual({ do: "activate" });
  });

  it("stops a daemon that nobody wants even while its content fails", () => {
    const history = recordFailure(fresh, "b", 0);
    expect(stepDaemon({ desired: null, written: "b", running: "a" }, history, 0)).toEqual({ do: "stop" });
  });
});
