import type { FoundProblem } from "@berth/core";
import { createFakeClock } from "@berth/host/fakes";
import { expect, it } from "vitest";
import { createProblemWatch } from "./problem-watch.js";

const odd: FoundProblem = { source: "topology", rack: null, daemon: null, code: "odd", at: "r1", message: "odd for 1 s" };

it("a problem is as old as the first look that saw it, whatever its words; one that went and came is new", async () => {
  const clock = createFakeClock(0);
  let found: FoundProblem[] = [odd];
  const watch = createProblemWatch(() => found, clock);
  const stop = new AbortController();
  const running = watch.run(stop.signal);
  await clock.advance(60_000);
  found = [
    { ...odd, message: "odd for 60 s" },
    { ...odd, at: "r2" },
  ];
  expect(watch.list().map(({ since, message }) => [since, message])).toEqual([
    ["1970-01-01T00:00:00.000Z", "odd for 60 s"],
    ["1970-01-01T00:01:00.000Z", "odd for 1 s"],
  ]);
  found = [];
  await clock.advance(4000);
  found = [odd];
  expect(watch.list()[0]?.since).toBe("1970-01-01T00:01:04.000Z");
  stop.abort();
  await running;
});
