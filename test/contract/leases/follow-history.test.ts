import fc from "fast-check";
import { createLeaseReader, type LeaseReport } from "@berth/core";
import { silentLog } from "@berth/host";
import { createFakeClock, createFakeFollowFiles, type FakeClock, type FakeFollowFiles } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import { createLeaseFollower } from "../../../packages/agent/src/observe/leases/lease-follower.js";
import type { LeaseChange, LeaseFollower } from "../../../packages/agent/src/observe/leases/model.js";

const PATH = "/leases/dhcpd.leases";
const START = Date.UTC(2026, 0, 1);

interface Block {
  readonly host: number;
  readonly mac: number;
  /** Seconds after the start at which it ends. */
  readonly ends: number;
  readonly state: "active" | "free" | "abandoned";
}

type Op =
  | { readonly kind: "append"; readonly blocks: readonly Block[]; readonly cut: number }
  | { readonly kind: "rewrite"; readonly keep: number; readonly blocks: readonly Block[] }
  | { readonly kind: "replace-slowly"; readonly blocks: readonly Block[] }
  | { readonly kind: "truncate"; readonly blocks: readonly Block[] }
  | { readonly kind: "overwrite"; readonly blocks: readonly Block[] }
  | { readonly kind: "unlink" }
  | { readonly kind: "look" }
  | { readonly kind: "wait"; readonly seconds: number }
  | { readonly kind: "step"; readonly seconds: number }
  | { readonly kind: "mute"; readonly silent: boolean };

const block: fc.Arbitrary<Block> = fc.record({
  host: fc.integer({ min: 1, max: 6 }),
  mac: fc.integer({ min: 1, max: 9 }),
  ends: fc.integer({ min: -100, max: 400 }),
  state: fc.constantFrom("active", "active", "active", "free", "abandoned"),
});
const blocks = fc.array(block, { maxLength: 4 });
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("append"), blocks, cut: fc.integer({ min: 0, max: 120 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("rewrite"), keep: fc.integer({ min: 0, max: 63 }), blocks }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("replace-slowly"), blocks }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("truncate"), blocks }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("overwrite"), blocks }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("unlink") }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("look") }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait"), seconds: fc.integer({ min: 0, max: 60 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("step"), seconds: fc.integer({ min: -200, max: 200 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("mute"), silent: fc.boolean() }) },
);

/** Found by this test: a lease told as ended, by a clock that was set back before anybody looked. */
const SET_BACK_AFTER_APPEND: Op[] = [
  { kind: "overwrite", blocks: [] },
  { kind: "look" },
  { kind: "step", seconds: 1 },
  { kind: "append", blocks: [1, 0].map((ends) => ({ host: 1, mac: 1, ends, state: "active" })), cut: 2 },
  { kind: "step", seconds: -5 },
];

describe("follower against a follower that reads the whole file each time", () => {
  it("agrees on every history of appends, rewrites, truncations and renames", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { maxLength: 40 }), async (history) => {
        await replay(history);
      }),
      { numRuns: 300, examples: [[SET_BACK_AFTER_APPEND]] },
    );
  });
});

async function replay(history: readonly Op[]): Promise<void> {
  const files = createFakeFollowFiles();
  const clock = createFakeClock(START);
  const follower = createLeaseFollower({
    path: PATH,
    clock,
    ports: { local: files, network: files },
    log: silentLog,
    createReader: createLeaseReader,
  });
  const consumer = new Consumer(follower);
  const server = new Server(files);
  const stop = new AbortController();
  const ended = follower.run(stop.signal);
  for (const step of history) await perform(step, server, { files, clock });
  await settle(clock);
  const expected = naiveTable(server.lastText, clock.now());
  expect(new Map(follower.snapshot().map(brief))).toEqual(expected);
  expect(new Map([...consumer.table.values()].map(brief))).toEqual(expected);
  stop.abort();
  await ended;
  expect({ open: files.openFiles, watches: files.watches }).toEqual({ open: 0, watches: 0 });
}

/** Long enough for a missed event (poll) and an emptied file (settle). */
async function settle(clock: FakeClock): Promise<void> {
  for (let i = 0; i < 4; i++) await clock.advance(1000);
}

async function perform(step: Op, server: Server, stage: { files: FakeFollowFiles; clock: FakeClock }): Promise<void> {
  switch (step.kind) {
    case "append":
      return server.append(textOf(step.blocks), step.cut);
    case "rewrite":
      return server.rewrite(step.keep, textOf(step.blocks));
    case "replace-slowly":
      return server.replaceSlowly(textOf(step.blocks), () => stage.clock.advance(100));
    case "truncate":
      return server.truncate(textOf(step.blocks));
    case "overwrite":
      return server.overwrite(textOf(step.blocks));
    case "unlink":
      await settle(stage.clock); // what nobody has read or believed before it went away nobody can know
      return server.unlink();
    case "look":
      return stage.clock.advance(1);
    case "wait":
      return stage.clock.advance(step.seconds * 1000);
    case "step":
      return stage.clock.step(step.seconds * 1000);
    case "mute":
      return stage.files.mute(step.silent);
  }
}

/** Applies changes as a listener does that starts with nothing. */
class Consumer {
  readonly table = new Map<string, LeaseReport>();

  constructor(follower: LeaseFollower) {
    follower.onChange((change) => this.#apply(change));
  }

  #apply(change: LeaseChange): void {
    if (change.reset) this.table.clear();
    for (const address of change.gone) this.table.delete(address);
    for (const report of change.upserts) this.table.set(report.address, report);
  }
}

/** What dhcpd and its operators do to the file; knows what a reader of the whole file would have read last. */
class Server {
  readonly #files: FakeFollowFiles;
  #text: string | null = null;
  /** The end of the last block, not written yet. */
  #rest = "";
  lastText = "";

  constructor(files: FakeFollowFiles) {
    this.#files = files;
  }

  append(text: string, cut: number): void {
    const whole = this.#rest + text;
    const at = Math.max(0, whole.length - cut);
    this.#rest = whole.slice(at);
    this.#text = (this.#text ?? "") + whole.slice(0, at);
    this.#files.append(PATH, whole.slice(0, at));
    this.lastText = this.#text;
  }

  /** As dhcpd does it: a new file aside, the old one under `~`, the new one moved over. */
  rewrite(keep: number, text: string): void {
    const kept = naiveBlocks(this.#text ?? "").filter((_, index) => (keep >> (index % 6)) & 1);
    const next = `# header\n${kept.map(({ source }) => `${source}\n`).join("")}${text}`;
    this.#files.write(`${PATH}.17`, next);
    if (this.#text !== null) this.#files.rename(PATH, `${PATH}~`);
    this.#files.rename(`${PATH}.17`, PATH);
    this.#begin(next);
  }

  async replaceSlowly(text: string, pause: () => Promise<void>): Promise<void> {
    if (this.#text !== null) this.#files.rename(PATH, `${PATH}~`);
    await pause();
    this.#files.write(PATH, "");
    await pause();
    this.#files.append(PATH, text.slice(0, 30));
    await pause();
    this.#files.append(PATH, text.slice(30));
    this.#begin(text);
  }

  truncate(text: string): void {
    this.#files.truncate(PATH);
    this.#files.append(PATH, text);
    this.#begin(text);
  }

  overwrite(text: string): void {
    this.#files.write(PATH, text);
    this.#begin(text);
  }

  unlink(): void {
    if (this.#text === null) return;
    this.#files.unlink(PATH);
    this.#text = null;
    this.#rest = "";
  }

  #begin(text: string): void {
    this.#text = text;
    this.#rest = "";
    this.lastText = text;
  }
}

function textOf(all: readonly Block[]): string {
  return all.map(blockText).join("");
}

function blockText({ host, mac, ends, state }: Block): string {
  const time = (seconds: number): string =>
    `${new Date(START + seconds * 1000).getUTCDay()} ${new Date(START + seconds * 1000).toISOString().slice(0, 19).replaceAll("-", "/").replace("T", " ")}`;
  return [
    `lease 192.0.2.${host} {`,
    `  starts ${time(-3600)};`,
    `  ends ${time(ends)};`,
    `  binding state ${state};`,
    `  hardware ethernet 00:00:5e:00:53:0${mac};`,
    "}",
    "",
  ].join("\n");
}

interface NaiveBlock {
  readonly source: string;
  readonly address: string;
  readonly state: string;
  readonly mac: string;
  readonly ends: number;
}

function naiveBlocks(text: string): NaiveBlock[] {
  return [...text.matchAll(/lease (\S+) \{[^}]*ends \d (\S+) (\S+);[^}]*state (\w+);[^}]*ethernet (\S+);\n\}/g)].map((match) => ({
    source: match[0],
    address: match[1] ?? "",
    ends: Date.parse(`${(match[2] ?? "").replaceAll("/", "-")}T${match[3]}Z`),
    state: match[4] ?? "",
    mac: match[5] ?? "",
  }));
}

function naiveTable(text: string, now: number): Map<string, unknown> {
  return new Map(
    naiveBlocks(text).map(({ address, state, mac, ends }) => [address, { state, mac, inUse: state === "active" && ends > now }]),
  );
}

function brief({ address, state, hardwareAddress, inUse }: LeaseReport): [string, unknown] {
  return [address, { state, mac: hardwareAddress, inUse }];
}
