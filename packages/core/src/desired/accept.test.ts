import { describe, expect, it } from "vitest";
import { acceptDesired } from "./accept.js";
import { canonicalJson } from "./digest.js";
import type { DesiredState } from "./schema.js";

const state = (generation: number, change: Partial<DesiredState> = {}): DesiredState => ({
  format: 1,
  rack: "r1",
  generation,
  subnets: [],
  zones: [],
  queryFrom: [],
  forwarders: [],
  ...change,
});

describe("acceptDesired", () => {
  it("takes the first and every newer generation", () => {
    expect(acceptDesired("r1", null, state(7)).kind).toBe("newer");
    expect(acceptDesired("r1", state(7), state(8)).kind).toBe("newer");
  });

  it("takes the same generation again without doing anything", () => {
    expect(acceptDesired("r1", state(7), state(7)).kind).toBe("same");
  });

  it.each([
    ["desired-older", state(6)],
    ["desired-contradiction", state(7, { forwarders: ["192.0.2.1" as never] })],
    ["desired-wrong-rack", state(8, { rack: "r2" })],
  ])("refuses: %s", (code, offered) => {
    const acceptance = acceptDesired("r1", state(7), offered);
    expect(acceptance.kind === "refused" ? acceptance.problem.code : acceptance.kind).toBe(code);
  });
});

describe("canonicalJson", () => {
  it("does not depend on the order of keys, and does on the order of lists", () => {
    expect(canonicalJson({ b: 1, a: { d: null, c: [2, 1] } })).toBe('{"a":{"c":[2,1],"d":null},"b":1}');
    expect(canonicalJson({ 'a"\\': ["\n", "ö", true, undefined] })).toBe(
      JSON.stringify({ 'a"\\': ["\n", "ö", true, undefined] }),
    );
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson({ a: undefined, b: "x\u2028" })).toBe(canonicalJson({ b: "x\u2028" }));
  });
});
