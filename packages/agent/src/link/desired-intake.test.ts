import { DesiredDigests, diffDesired, type DesiredChange, type DesiredState, type Problem } from "@berth/core";
import { EnvironmentError, sha256, silentLog } from "@berth/host";
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

const digests = new DesiredDigests(sha256);

function change(before: DesiredState, after: DesiredState): DesiredChange {
  const found = diffDesired(before, after, (of) => digests.of(of));
  if (found === null) throw new Error("a small change");
  return found;
}

/** An intake whose takes end when the test says so. */
function setUp(held: DesiredState | null = null) {
  const clock = createFakeClock(0);
  const answers: (readonly [number, string | null])[] = [];
  const taking: { generation: number; end: (problem: Problem | null) => void; fail: (error: Error) => void }[] = [];
  const states: DesiredState[] = [];
  const intake = new DesiredIntake({
    clock,
    log: silentLog,
    held: () => held,
    digests,
    take: (taken) =>
      new Promise((end, fail) => {
        states.push(taken);
        taking.push({ generation: taken.generation, end, fail });
      }),
    answer: (generation, problem) => answers.push([generation, problem?.code ?? null]),
  });
  return { clock, intake, answers, taking, states };
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

it("takes a change of what is held, of what is being taken and of what waits", async () => {
  const { clock, intake, taking, states } = setUp(state(1));
  for (const generation of [2, 3, 4]) intake.offerChange(change(state(generation - 1), state(generation)));
  taking[0]?.end(null);
  await clock.advance(0);
  expect(states).toEqual([state(2), state(4)]);
});

it("asks for the whole where a change is of another state, does not fit or leads elsewhere", () => {
  const { intake, answers, taking } = setUp(state(1));
  const good = change(state(1), state(2));
  const other = { ...state(1), forwarders: ["192.0.2.1" as never] };
  intake.offerChange(change(state(7), state(8)));
  intake.offerChange(change(other, state(2)));
  intake.offerChange({ ...good, subnets: [{ same: 3 }] });
  intake.offerChange({ ...good, digest: "another" });
  expect(taking).toEqual([]);
  expect(answers).toEqual([8, 2, 2, 2].map((generation) => [generation, "desired-base-missing"]));
});
