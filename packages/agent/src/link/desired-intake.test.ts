import type { DesiredState, Problem } from "@berth/core";
import { EnvironmentError, silentLog } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import { expect, it } from "vitest";
import { DesiredIntake } from "./desired-intake.js";

const state = (generation: number): DesiredState => ({
  format: 1,
  rack: "r",
  generation,
  subnets: [],
  zones: [],
  queryFrom: [],
  forwarders: [],
});

/** An intake whose takes end when the test says so. */
function setUp() {
  const clock = createFakeClock(0);
  const answers: (readonly [number, string | null])[] = [];
  const taking: { generation: number; end: (problem: Problem | null) => void; fail: (error: Error) => void }[] = [];
  const intake = new DesiredIntake({
    clock,
    log: silentLog,
    take: ({ generation }) =>
      new Promise((end, fail) => {
        taking.push({ generation, end, fail });
      }),
    answer: (generation, problem) => answers.push([generation, problem?.code ?? null]),
  });
  return { clock, intake, answers, taking };
}

it("takes one at a time and of those that wait only the newest", async () => {
  const { clock, intake, answers, taking } = setUp();
  for (const generation of [1, 2, 3]) intake.offer(state(generation));
  expect(taking.map(({ generation }) => generation)).toEqual([1]);
  taking[0]?.end(null);
  await clock.advance(0);
  taking[1]?.end({ code: "no", at: "x", message: "y" });
  await clock.advance(0);
  expect(answers).toEqual([
    [1, null],
    [3, "no"],
  ]);
});

it("tries again what this host failed to keep, unless something newer came", async () => {
  const { clock, intake, answers, taking } = setUp();
  intake.offer(state(1));
  taking[0]?.fail(new EnvironmentError("file-unwritable", "/x", "disk full"));
  await clock.advance(0);
  intake.work();
  expect(taking).toHaveLength(1);
  await clock.advance(5_000);
  intake.work();
  expect(taking.map(({ generation }) => generation)).toEqual([1, 1]);
  intake.offer(state(2));
  taking[1]?.fail(new EnvironmentError("file-unwritable", "/x", "disk full"));
  await clock.advance(5_000);
  intake.work();
  taking[2]?.end(null);
  await clock.advance(0);
  expect(answers).toEqual([[2, null]]);
});
