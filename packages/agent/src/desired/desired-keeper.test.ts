import type { DesiredState } from "@berth/core";
import { createMemoryFiles } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import { openDesiredKeeper } from "./desired-keeper.js";

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
  const open = (files = memoryFiles(), onAccepted = (): void => undefined) =>
    openDesiredKeeper({ files, stateDir: "/state", rack: "r1", onAccepted });

  it("has a state on disk before it acts on it, and again after a restart", async () => {
    const files = memoryFiles();
    let seenAtAcceptance: string | null = null;
    const keeper = await open(files, () => (seenAtAcceptance = files.text("/state/desired.json")));
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

  it.each([
    ["torn", (text: string) => text.slice(0, text.length / 2)],
    ["changed by hand", (text: string) => text.replace('"generation":2', '"generation":9')],
    ["empty", () => ""],
  ])("goes back to the one before when the file is %s, and names it", async (_, damage) => {
    const files = memoryFiles();
    const keeper = await open(files);
    await keeper.offer(state(1));
    await keeper.offer(state(2));
    files.put("/state/desired.json", damage(files.text("/state/desired.json") ?? ""));
    const again = await open(files);
    expect(again.current()?.generation).toBe(1);
    expect(again.problem()).toMatchObject({ code: "desired-damaged", at: "/state/desired.json" });
    await again.offer(state(2));
    expect(again.problem()).toBeNull();
  });
});
