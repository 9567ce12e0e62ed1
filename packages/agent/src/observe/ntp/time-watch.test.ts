import { ipAddress, type IpAddress } from "@berth/core";
import { createFakeClock } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import type { TimeAnswer } from "./ask-time.js";
import { createTimeWatch } from "./time-watch.js";

const OK: TimeAnswer = { ok: true };
const SILENT: TimeAnswer = { ok: false, why: "no-answer" };

describe("time watch", () => {
  function setUp(addresses: readonly IpAddress[], answerOf: (address: IpAddress) => TimeAnswer) {
    const clock = createFakeClock(0);
    const changes: (boolean | null)[] = [];
    const watch = createTimeWatch({
      clock,
      addresses: () => addresses,
      ask: (address) => Promise.resolve(answerOf(address)),
      onChange: () => changes.push(watch.answers()),
    });
    const ending = new AbortController();
    const running = watch.run(ending.signal);
    const end = async (): Promise<void> => {
      ending.abort(new Error("end of the test"));
      await running;
    };
    return { clock, changes, watch, end };
  }
  const rounds = async (clock: { advance(ms: number): unknown }, count: number, ms = 60_000): Promise<void> => {
    for (let i = 0; i < count; i++) {
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      await clock.advance(ms);
    }
  };

  it("says nothing while it has no address to ask at", async () => {
    const { clock, watch, end } = setUp([], () => OK);
    await rounds(clock, 3);
    expect(watch.answers()).toBeNull();
    await end();
  });

  it("needs an answer on every network", async () => {
    const [one, two] = [ipAddress("192.0.2.1"), ipAddress("192.0.2.65")];
    const { clock, changes, end } = setUp([one, two], (address) => (address === one ? OK : SILENT));
    await rounds(clock, 2);
    expect(changes).toEqual([false]);
    await end();
  });

  it("offers a server at its first answer, and forgives a short silence", async () => {
    let answer: TimeAnswer = OK;
    const { clock, changes, end } = setUp([ipAddress("192.0.2.1")], () => answer);
    await rounds(clock, 1);
    expect(changes).toEqual([true]);
    answer = SILENT;
    await rounds(clock, 1);
    await rounds(clock, 1, 5_000);
    answer = OK;
    await rounds(clock, 2, 5_000);
    expect(changes).toEqual([true]);
    answer = SILENT;
    await rounds(clock, 2);
    await rounds(clock, 3, 5_000);
    expect(changes).toEqual([true, false]);
    await end();
  });
});
