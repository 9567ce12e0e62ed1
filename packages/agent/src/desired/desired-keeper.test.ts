import { DesiredDigests, type DesiredState } from "@berth/core";
import { EnvironmentError, sha256, silentLog, type Files } from "@berth/host";
import { createFakeClock, createMemoryFiles } from "@berth/host/fakes";
import { describe, expect, it, vi } from "vitest";
import { openDesiredKeeper, type DesiredKeeper } from "./desired-keeper.js";

const digests = new DesiredDigests(sha256);

function open(
  files: Files = memoryFiles(),
  { onAccepted = (): void => undefined, clock = createFakeClock(0) } = {},
): Promise<DesiredKeeper> {
  return openDesiredKeeper({ files, clock, log: silentLog, digests, stateDir: "/state", rack: "r1", onAccepted });
}

const state = (generation: number): DesiredState => ({
  format: 1,
  rack: "r1",
  generation,
  subnets: [],
  zones: [],
  queryFrom: [],
  forwarders: [],
});

/** Memory files with the state folder that the agent makes at its start. */
function memoryFiles() {
  const files = createMemoryFiles();
  files.put("/state/.folder", "");
  return files;
}

describe("desired keeper", () => {
  it("has a state on disk before it acts on it, and again after a restart", async () => {
    const files = memoryFiles();
    let seenAtAcceptance: string | null = null;
    const onAccepted = (): void => void (seenAtAcceptance = files.text("/state/desired.json"));
    const keeper = await open(files, { onAccepted });
    expect(keeper.current()).toBeNull();
    expect(await keeper.offer(state(3))).toBeNull();
    expect(seenAtAcceptance).toContain('"generation":3');
    expect((await open(files)).current()).toEqual(state(3));
  });

  it("refuses an older one and keeps the newer", async () => {
    const keeper = await open();
    await keeper.offer(state(3));
    expect((await keeper.offer(state(2)))?.code).toBe("desired-older");
    expect(keeper.current()?.generation).toBe(3);
  });

  it("takes offers one after the other: of two at once under one number, one is refused", async () => {
    const keeper = await open();
    const other = { ...state(1), forwarders: ["192.0.2.1" as never] };
    const answers = await Promise.all([keeper.offer(state(1)), keeper.offer(other)]);
    expect(answers.map((problem) => problem?.code ?? null)).toEqual([null, "desired-contradiction"]);
  });

  it("keeps the old one when the disk is full, and says so", async () => {
    const files = memoryFiles();
    const keeper = await open(files);
    await keeper.offer(state(1));
    files.failAlways("disk-full");
    await expect(keeper.offer(state(2))).rejects.toMatchObject({ code: "file-unwritable" });
    expect(keeper.current()?.generation).toBe(1);
  });

  /** The second was accepted and written whole since. */
  async function twoAccepted(): Promise<ReturnType<typeof memoryFiles>> {
    const files = memoryFiles();
    const keeper = await open(files);
    await keeper.offer(state(1));
    await keeper.offer(state(2));
    await keeper.run(AbortSignal.abort());
    return files;
  }

  const damages: readonly (readonly [string, (text: string) => string])[] = [
    ["torn", (text) => text.slice(0, text.length / 2)],
    ["changed by hand", (text) => text.replace('"rack":"r1"', '"rack":"r2"')],
    ["empty", () => ""],
  ];

  it.each(damages)("finds the newest in the other files when desired.json is %s, and names it", async (_, damage) => {
    const files = await twoAccepted();
    files.put("/state/desired.json", damage(files.text("/state/desired.json") ?? ""));
    const again = await open(files);
    expect(again.current()).toEqual(state(2));
    expect(again.problem()).toMatchObject({ code: "desired-damaged", at: "/state/desired.json" });
    await again.offer(state(3));
    expect(again.problem()).toBeNull();
    expect((await open(files)).problem()).toBeNull();
  });

  it.each(damages)("goes back to the one before when the newest is nowhere but in a change that is %s", async (_, damage) => {
    const files = memoryFiles();
    const keeper = await open(files);
    await keeper.offer(state(1));
    await keeper.offer(state(2));
    files.put("/state/desired.change.json", damage(files.text("/state/desired.change.json") ?? ""));
    const again = await open(files);
    expect(again.current()?.generation).toBe(1);
    expect(again.problem()).toMatchObject({ code: "desired-damaged", at: "/state/desired.change.json" });
  });

  it("reads what an agent wrote before there were changes", async () => {
    const files = memoryFiles();
    const old = '{"format":1,"forwarders":[],"generation":4,"queryFrom":[],"rack":"r1","subnets":[],"zones":[]}';
    files.put("/state/desired.json", `{"digest":"${sha256(old)}","state":${old}}`);
    const keeper = await open(files);
    expect([keeper.current(), keeper.problem()]).toEqual([state(4), null]);
    files.put("/state/desired.json", `{"digest":"${sha256("other")}","state":${old}}`);
    expect((await open(files)).problem()?.code).toBe("desired-damaged");
  });

  it("writes the whole again when it has been quiet, and only then", async () => {
    const [files, clock, stop] = [memoryFiles(), createFakeClock(0), new AbortController()];
    const keeper = await open(files, { clock });
    const running = keeper.run(stop.signal);
    await keeper.offer(state(1));
    await keeper.offer(state(2));
    expect(files.text("/state/desired.json")).toContain('"generation":1');
    await clock.advance(60_000);
    await vi.waitFor(() => expect(files.text("/state/desired.json")).toContain('"generation":2'));
    await keeper.offer(state(3));
    stop.abort();
    await running;
    expect(files.text("/state/desired.json")).toContain('"generation":3');
  });

  it("has what it accepted last, or what it was about to accept, wherever it was cut off", async () => {
    for (let calls = 0; ; calls++) {
      const files = memoryFiles();
      const { accepted, offered, isWhole } = await workUntilCutOff(files, calls);
      const again = await open(files);
      expect([accepted, offered]).toContain(again.current()?.generation ?? 0);
      expect(again.problem()).toBeNull();
      if (isWhole) return;
    }
  });
});

/** Takes states, now and then whole; after so many calls that write nothing comes to the disk any more, as at a power cut. */
async function workUntilCutOff(
  files: Files,
  calls: number,
): Promise<{ readonly accepted: number; readonly offered: number; readonly isWhole: boolean }> {
  let left = calls;
  const cut = (): boolean => left-- <= 0;
  const gone = (): never => {
    throw new EnvironmentError("file-unwritable", "/state", "cut off");
  };
  const keeper = await open({
    ...{ read: files.read.bind(files), remove: files.remove.bind(files), ensureDirectory: files.ensureDirectory.bind(files) },
    replace: async (...of) => (cut() ? gone() : files.replace(...of)),
    write: async (...of) => (cut() ? gone() : files.write(...of)),
    move: async (...of) => (cut() ? gone() : files.move(...of)),
  });
  let accepted = 0;
  for (let generation = 1; generation <= 6; generation++) {
    try {
      await keeper.offer(state(generation));
    } catch {
      return { accepted, offered: generation, isWhole: false };
    }
    accepted = generation;
    if (generation % 2 === 0) await keeper.run(AbortSignal.abort());
  }
  return { accepted, offered: accepted, isWhole: left >= 0 };
}
