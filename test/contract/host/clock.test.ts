import { systemClock, type Clock } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";

interface Subject {
  readonly clock: Clock;
  /** Lets that much time pass. */
  readonly pass: (ms: number) => Promise<void>;
}

/** setTimeout counts whole milliseconds and may fire that much early by the finer clock. */
const TIMER_GRAIN_MS = 2;

const subjects: readonly [string, () => Subject][] = [
  ["systemClock", () => ({ clock: systemClock, pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms)) })],
  [
    "fake clock",
    () => {
      const clock = createFakeClock(1_700_000_000_000);
      return { clock, pass: (ms) => clock.advance(ms) };
    },
  ],
];

describe.each(subjects)("the contract of Clock: %s", (_name, make) => {
  it("counts milliseconds since 1970, and both clocks go on as time passes", async () => {
    const { clock, pass } = make();
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    expect(now).toBeGreaterThan(Date.UTC(2023, 0));
    await pass(10);
    expect(clock.now() - now).toBeGreaterThanOrEqual(10 - TIMER_GRAIN_MS);
    expect(clock.monotonic() - monotonic).toBeGreaterThanOrEqual(10 - TIMER_GRAIN_MS);
  });

  it("sleeps as long as it is told, shorter sleepers first", async () => {
    const { clock, pass } = make();
    const start = clock.monotonic();
    const woken: string[] = [];
    const long = clock.sleep(40).then(() => woken.push("long"));
    const short = clock.sleep(5).then(() => woken.push("short"));
    expect(woken).toEqual([]);
    await Promise.all([pass(60), long, short]);
    expect(woken).toEqual(["short", "long"]);
    expect(clock.monotonic() - start).toBeGreaterThanOrEqual(40 - TIMER_GRAIN_MS);
  });

  it.each([0, -5])("does not wait at all for %d ms", async (ms) => {
    await expect(make().clock.sleep(ms)).resolves.toBeUndefined();
  });

  it.each([0, 60_000])("rejects with the signal's reason when it is aborted already (%d ms)", async (ms) => {
    const reason = new Error("stop");
    await expect(make().clock.sleep(ms, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it("rejects with the signal's reason when it is aborted while it sleeps", async () => {
    const abort = new AbortController();
    const reason = new Error("stop");
    const sleep = make().clock.sleep(60_000, abort.signal);
    abort.abort(reason);
    await expect(sleep).rejects.toBe(reason);
  });

  it("sleeps longer than one timer of the platform can", async () => {
    const abort = new AbortController();
    const { clock, pass } = make();
    let woke = false;
    const sleep = clock.sleep(2 ** 31 + 1_000, abort.signal).then(() => (woke = true));
    await pass(20);
    expect(woke).toBe(false);
    abort.abort(new Error("enough"));
    await expect(sleep).rejects.toThrow("enough");
  });

  it("does not hear an abort after it woke", async () => {
    const abort = new AbortController();
    const { clock, pass } = make();
    const sleep = clock.sleep(2, abort.signal);
    await Promise.all([pass(20), sleep]);
    abort.abort(new Error("late"));
    await expect(sleep).resolves.toBeUndefined();
  });
});

describe("the fake clock alone", () => {
  it("steps the wall clock without waking anyone", async () => {
    const clock = createFakeClock(1_000);
    const sleep = clock.sleep(100);
    clock.step(-500);
    expect([clock.now(), clock.monotonic(), clock.sleepers]).toEqual([500, 0, 1]);
    await clock.advance(100);
    await sleep;
    expect([clock.now(), clock.monotonic(), clock.sleepers]).toEqual([600, 100, 0]);
  });

  it("lets a sleeper that wakes sleep again within the same advance", async () => {
    const clock = createFakeClock(0);
    const at: number[] = [];
    const loop = (async () => {
      for (let n = 0; n < 3; n++) {
        await clock.sleep(10);
        at.push(clock.monotonic());
      }
    })();
    await clock.advance(30);
    await loop;
    expect(at).toEqual([10, 20, 30]);
  });
});
