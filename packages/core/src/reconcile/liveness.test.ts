import { describe, expect, it } from "vitest";
import { rememberActivation, ACTIVATIONS_MAX, type Activation } from "./activation.js";
import { ASK_INTERVAL_MS, isHung, nextQuestionMs, NOT_ASKED, noteAnswer, SILENT_MAX } from "./liveness.js";

describe("liveness", () => {
  it("asks at once, then rarely, and soon again after silence", () => {
    expect(nextQuestionMs(NOT_ASKED, 5)).toBe(0);
    const heard = noteAnswer(NOT_ASKED, true, 0);
    expect([nextQuestionMs(heard, 0), nextQuestionMs(heard, ASK_INTERVAL_MS + 1)]).toEqual([ASK_INTERVAL_MS, 0]);
    expect(nextQuestionMs(noteAnswer(heard, false, 0), 0)).toBe(1_000);
  });

  it("takes a daemon for hung after several silent questions in a row only", () => {
    let liveness = NOT_ASKED;
    for (let n = 1; n < SILENT_MAX; n++) liveness = noteAnswer(liveness, false, n);
    expect(isHung(liveness)).toBe(false);
    expect(isHung(noteAnswer(noteAnswer(liveness, true, 8), false, 9))).toBe(false);
    expect(isHung(noteAnswer(liveness, false, 9))).toBe(true);
  });
});

describe("rememberActivation", () => {
  const entry = (n: number, outcome: Activation["outcome"] = "serves"): Activation => ({
    ...{ at: new Date(n).toISOString(), step: "activate", generation: n, desired: "a", before: null, tookMs: 1, problem: null },
    outcome,
  });

  it("keeps the newest, and puts the end of an activation in the place of its beginning", () => {
    let history: readonly Activation[] = [];
    for (let n = 0; n < ACTIVATIONS_MAX + 10; n++) {
      history = rememberActivation(history, entry(n, "interrupted"));
      history = rememberActivation(history, entry(n));
    }
    expect([history.length, history[0]?.generation, history.every(({ outcome }) => outcome === "serves")]).toEqual([
      ACTIVATIONS_MAX,
      10,
      true,
    ]);
  });
});
