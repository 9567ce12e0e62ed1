import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  BACKOFF_BASE_MS,
  BACKOFF_CAP_MS,
  HEALTHY_AFTER_MS,
  LINK_STOPPED,
  linkWakeAt,
  NEXT_REGION_MS,
  PING_AFTER_MS,
  SILENT_AFTER_MS,
  stepLink,
  WELCOME_TIMEOUT_MS,
  type LinkEvent,
  type LinkState,
} from "./link-state.js";

const at = (now: number, random = 0.5, regions = 1) => ({ now, random, regions });

/** The state after these events, each at its time. */
function after(events: readonly (readonly [LinkEvent, number])[], regions = 1): LinkState {
  return events.reduce<LinkState>((state, [event, now]) => stepLink(state, event, at(now, 0.5, regions)).state, LINK_STOPPED);
}

const CONNECTED: readonly (readonly [LinkEvent, number])[] = [
  [{ kind: "start" }, 0],
  [{ kind: "opened", connection: 1 }, 10],
  [{ kind: "welcomed", connection: 1 }, 20],
];

describe("stepLink", () => {
  it("dials, greets, synchronises", () => {
    const dialing = stepLink(LINK_STOPPED, { kind: "start" }, at(0));
    expect(dialing.effects).toEqual([{ kind: "dial", connection: 1, region: 0 }]);
    const greeting = stepLink(dialing.state, { kind: "opened", connection: 1 }, at(10));
    expect(greeting.effects).toEqual([{ kind: "greet", connection: 1 }]);
    const connected = stepLink(greeting.state, { kind: "welcomed", connection: 1 }, at(20));
    expect(connected.effects).toEqual([{ kind: "synchronise", connection: 1 }]);
    expect(connected.state).toMatchObject({ kind: "connected", since: 20 });
  });

  it("news of an older connection changes nothing", () => {
    const state = after([...CONNECTED, [{ kind: "lost", connection: 1 }, 30], [{ kind: "tick" }, 10_000]]);
    expect(state).toMatchObject({ kind: "dialing", connection: 2 });
    for (const kind of ["opened", "welcomed", "heard", "lost"] as const)
      expect(stepLink(state, { kind, connection: 1 }, at(10_001))).toEqual({ state, effects: [] });
  });

  it("asks for a sign of life after silence, then gives the link up", () => {
    const state = after(CONNECTED);
    const asked = stepLink(state, { kind: "tick" }, at(20 + PING_AFTER_MS));
    expect(asked.effects).toEqual([{ kind: "ping", connection: 1 }]);
    const answered = stepLink(asked.state, { kind: "heard", connection: 1 }, at(20 + PING_AFTER_MS + 5)).state;
    expect(linkWakeAt(answered)).toBe(25 + 2 * PING_AFTER_MS);
    const given = stepLink(asked.state, { kind: "tick" }, at(20 + SILENT_AFTER_MS));
    expect(given.effects).toMatchObject([{ kind: "hang-up", connection: 1 }]);
    expect(given.state.kind).toBe("waiting");
  });

  it("does not wait for a welcome for ever", () => {
    const state = after(CONNECTED.slice(0, 2));
    expect(stepLink(state, { kind: "tick" }, at(WELCOME_TIMEOUT_MS - 1)).state).toBe(state);
    expect(stepLink(state, { kind: "tick" }, at(WELCOME_TIMEOUT_MS)).state).toMatchObject({ kind: "waiting", failures: 1 });
  });

  it("dials a lost healthy link again soon and at the same region, however often it failed before", () => {
    const connected = { ...after(CONNECTED, 3), failures: 40, region: 2 } as LinkState;
    const lost = stepLink(connected, { kind: "lost", connection: 1 }, at(20 + HEALTHY_AFTER_MS, 0.999, 3)).state;
    expect(lost).toMatchObject({ kind: "waiting", region: 2, failures: 0 });
    expect((linkWakeAt(lost) ?? 0) - 20 - HEALTHY_AFTER_MS).toBeLessThanOrEqual(BACKOFF_BASE_MS);
  });

  it("a link that breaks at once counts as a failure, so two hosts with one identity do not fight at full speed", () => {
    const lost = stepLink(after(CONNECTED), { kind: "lost", connection: 1 }, at(30)).state;
    expect(lost).toMatchObject({ kind: "waiting", failures: 1 });
  });

  it("tries every address in turn, and waits long only after a whole round", () => {
    const regions = 3;
    const tried: number[] = [];
    const waits: number[] = [];
    let step = stepLink(LINK_STOPPED, { kind: "start" }, at(0, 0.5, regions));
    let now = 0;
    for (let i = 0; i < 7; i++) {
      for (const effect of step.effects) if (effect.kind === "dial") tried.push(effect.region);
      const { state } = stepLink(step.state, { kind: "lost", connection: step.state.connection }, at(now, 0.999, regions));
      const wake = linkWakeAt(state) ?? 0;
      waits.push(wake - now);
      now = wake;
      step = stepLink(state, { kind: "tick" }, at(now, 0.5, regions));
    }
    expect(tried).toEqual([0, 1, 2, 0, 1, 2, 0]);
    expect(waits.map((wait) => wait > NEXT_REGION_MS)).toEqual([false, false, true, false, false, true, false]);
  });

  it("spreads waits over the whole span, which doubles up to its cap", () => {
    const waiting = (failures: number, random: number): number => {
      const state: LinkState = { kind: "dialing", connection: 1, region: 0, failures, deadline: 99 };
      return linkWakeAt(stepLink(state, { kind: "lost", connection: 1 }, at(0, random)).state) ?? -1;
    };
    expect([0, 1, 2, 3, 4, 20].map((failures) => waiting(failures, 1))).toEqual([
      2_000,
      4_000,
      8_000,
      16_000,
      BACKOFF_CAP_MS,
      BACKOFF_CAP_MS,
    ]);
    expect(waiting(20, 0)).toBe(0);
  });

  it("whatever happens, it wants to be woken unless it is stopped, and never holds two connections", () => {
    const kinds = fc.constantFrom("start", "tick", "opened", "welcomed", "heard", "lost", "stop");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(kinds, fc.nat(3), fc.nat(40_000), fc.double({ min: 0, max: 0.99, noNaN: true })), {
          maxLength: 80,
          size: "max",
        }),
        (history) => {
          let state: LinkState = LINK_STOPPED;
          let now = 0;
          const open = new Set<number>();
          for (const [kind, back, pause, random] of history) {
            now += pause;
            const event: LinkEvent =
              kind === "start" || kind === "tick" || kind === "stop" ? { kind } : { kind, connection: state.connection - back };
            const step = stepLink(state, event, at(now, random, 2));
            if (kind === "lost") open.delete(state.connection - back);
            for (const effect of step.effects) {
              if (effect.kind === "dial") open.add(effect.connection);
              if (effect.kind === "hang-up") open.delete(effect.connection);
            }
            ({ state } = step);
            expect(open.size).toBeLessThanOrEqual(1);
            expect(linkWakeAt(state) === null).toBe(state.kind === "stopped");
          }
        },
      ),
    );
  });
});
