import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ipAddress, type CurrentProblem, type RackView } from "@berth/core";
import { createLog, silentLog, systemClock, type Clock, type Log } from "@berth/host";
import { createNotices, type Notices } from "../../../packages/coordinator/src/notices/create-notices.js";
import { isSigned } from "../../../packages/coordinator/src/notices/sign-delivery.js";
import { createMemoryStore, MemoryDisk } from "../../../packages/coordinator/src/store/memory-store.js";
import type { Store } from "../../../packages/coordinator/src/store/store.js";
import { Receiver } from "./receiver.js";

const SECRET = "a secret of sixteen and more";
/** Pauses are short, their lengths are written down. */
const pauses: number[] = [];
const clock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  sleep: (ms, signal) => {
    pauses.push(ms);
    return systemClock.sleep(Math.min(ms, 5), signal);
  },
};

let receiver: Receiver;
let url: string;
let disk: MemoryDisk;
let store: Store;
let problems: CurrentProblem[];
let racks: RackView[];
let ending: AbortController;
let running: Promise<void>;
let notices: Notices;

beforeEach(async () => {
  pauses.length = 0;
  receiver = new Receiver();
  url = await receiver.listen();
  disk = new MemoryDisk();
  store = createMemoryStore(disk);
  [problems, racks] = [[], []];
});
afterEach(async () => {
  await end();
  await receiver.close();
});

async function start(change: { readonly toLog?: boolean; readonly log?: Log; readonly webhooks?: number } = {}): Promise<void> {
  const { log = silentLog, toLog = false, webhooks = 1 } = change;
  const targets = Array.from({ length: webhooks }, () => ({ url, secret: SECRET }));
  const made = createNotices({
    store,
    clock,
    log,
    toLog,
    webhooks: targets,
    random: () => 0.5,
    problems: () => problems,
    racks: () => racks,
    vipMoves: (asked) => store.topology.moves(asked),
  });
  if (made === null) throw new Error("nobody wants to be told");
  notices = made;
  ending = new AbortController();
  running = notices.run(ending.signal);
  await expect.poll(() => disk.settings.has("notices.audit-cursor")).toBe(true);
}

async function end(): Promise<void> {
  ending.abort(new Error("the test ends"));
  await running;
}

async function happen(subject: string, detail: unknown = []): Promise<void> {
  await store.audit.append({ at: systemClock.now(), actor: "token admin", action: "enroll-machine", subject, detail });
  notices.nudge();
}

const subjects = (): string[] => receiver.received.flatMap(({ body }) => body.notices.map(({ subject }) => subject));

describe("webhooks", () => {
  it("are told of what happens from then on, signed with the secret and the time", async () => {
    await store.audit.append({
      at: 1,
      actor: "token admin",
      action: "create-subnet",
      subject: "before anybody asked",
      detail: [],
    });
    await start();
    await happen("web1");
    await expect.poll(subjects).toEqual(["web1"]);
    const [delivery] = receiver.received;
    const headers = delivery?.headers ?? {};
    const timestamp = Number(headers["berth-timestamp"]);
    const signed = { timestamp, body: delivery?.text ?? "", signature: String(headers["berth-signature"]) };
    const at = { now: systemClock.now() / 1000, toleranceSeconds: 300 };
    expect(isSigned(SECRET, signed, at)).toBe(true);
    expect(isSigned("another secret", signed, at)).toBe(false);
    expect(isSigned(SECRET, { ...signed, body: `${signed.body} ` }, at)).toBe(false);
    expect(isSigned(SECRET, { ...signed, timestamp: timestamp + 1 }, at)).toBe(false);
    expect(isSigned(SECRET, { ...signed, signature: "sha256=00" }, at)).toBe(false);
    expect(isSigned(SECRET, signed, { ...at, now: at.now + 301 })).toBe(false);
    expect(headers["berth-delivery"]).toBe(delivery?.body.delivery);
    expect(delivery?.body.notices[0]).toMatchObject({ id: "audit-2", type: "enroll-machine", actor: "token admin" });
  });

  it("get it again until they take it, in order, with growing pauses, as the same delivery", async () => {
    await start();
    receiver.answers.push(500, 302, 404, 503, 200);
    await happen("one");
    await expect.poll(() => receiver.received.length).toBe(5);
    await happen("two");
    await expect.poll(() => subjects().at(-1)).toBe("two");
    expect(subjects()).toEqual(["one", "one", "one", "one", "one", "two"]);
    expect(new Set(receiver.received.slice(0, 5).map(({ body }) => body.delivery)).size).toBe(1);
    expect(pauses.filter((ms) => [750, 1500, 3000, 6000].includes(ms))).toEqual([750, 1500, 3000, 6000]);
    expect(notices.problems()).toEqual([]);
  });

  it("that are away are a problem, and get everything when they are back, over a restart of the coordinator too", async () => {
    await start();
    await receiver.close();
    await happen("one");
    await expect.poll(() => notices.problems().map(({ at, code }) => `${code} ${at}`)).toEqual([`webhook-failing ${url}`]);
    await end();
    await store.audit.append({ at: 2, actor: "coordinator", action: "release-machine", subject: "two", detail: [] });
    await receiver.listen();
    await start();
    await happen("three");
    await expect.poll(subjects).toEqual(["one", "two", "three"]);
    await expect.poll(() => disk.settings.get("notices.audit-cursor")).toBe("3");
  });

  it("do not hinder each other", async () => {
    const slow = new Receiver();
    const slowUrl = await slow.listen();
    slow.answers.push(...Array.from({ length: 1000 }, () => 500));
    const webhooks = [slowUrl, url].map((target) => ({ url: target, secret: SECRET }));
    const made = createNotices({
      store,
      clock,
      log: silentLog,
      toLog: false,
      webhooks,
      problems: () => problems,
      racks: () => racks,
      vipMoves: (asked) => store.topology.moves(asked),
    });
    if (made === null) throw new Error("nobody wants to be told");
    notices = made;
    ending = new AbortController();
    running = notices.run(ending.signal);
    await expect.poll(() => disk.settings.has("notices.audit-cursor")).toBe(true);
    await happen("one");
    await happen("two");
    await expect.poll(subjects).toEqual(["one", "two"]);
    // What the slow one has not taken is not written down as told.
    expect(disk.settings.get("notices.audit-cursor")).toBe("0");
    await slow.close();
  });

  it("are told of problems, racks and moves of virtual addresses", async () => {
    await start();
    const rack = { id: "r-1", name: "rack-1", connected: true } as RackView;
    const problem = {
      source: "rack",
      rack: "rack-1",
      daemon: null,
      code: "odd",
      at: "x",
      message: "m",
      since: "2026-11-30T12:00:00.000Z",
    } as const;
    [racks, problems] = [[rack], [problem]];
    notices.nudge();
    await expect.poll(() => receiver.types()).toEqual(["problem-raised", "rack-connected"]);
    [racks, problems] = [[{ ...rack, connected: false }], []];
    notices.nudge();
    await expect.poll(() => receiver.types().slice(2)).toEqual(["problem-cleared", "rack-silent"]);
    const move = { site: "default", address: ipAddress("192.0.2.9"), from: "rack-1", to: "rack-2", at: 5 };
    await store.topology.save({ racks: [], goneRacks: [], addresses: [], goneAddresses: [], moves: [move], seenAt: 5 });
    notices.nudge();
    await expect.poll(() => receiver.types().slice(4)).toEqual(["vip-moved"]);
    expect(receiver.received.at(-1)?.body.notices[0]).toMatchObject({
      subject: "192.0.2.9",
      detail: { from: "rack-1", to: "rack-2" },
    });
  });

  it("get the first changes of a large import and the number of the others", async () => {
    await start();
    await happen(
      "5000 machines",
      Array.from({ length: 5000 }, (_, index) => ({ table: "machine", before: null, after: { id: index } })),
    );
    await expect.poll(() => receiver.received.length).toBe(1);
    expect(receiver.received[0]?.body.notices[0]?.detail).toMatchObject({ changes: { length: 50 }, more: 4950 });
  });
});

describe("notices", () => {
  it("go to the log when that is wanted", async () => {
    const lines: string[] = [];
    await start({ toLog: true, webhooks: 0, log: createLog({ write: (line) => lines.push(line) }) });
    await happen("web1");
    await expect
      .poll(() => lines.map((line) => (JSON.parse(line) as { msg: string }).msg))
      .toEqual(["notice: enroll-machine web1"]);
    await expect.poll(() => disk.settings.get("notices.audit-cursor")).toBe("1");
  });

  it("are made for nobody when nobody wants them", () => {
    const none = createNotices({
      store,
      clock,
      log: silentLog,
      toLog: false,
      webhooks: [],
      problems: () => [],
      racks: () => [],
      vipMoves: () => Promise.resolve([]),
    });
    expect(none).toBeNull();
    [ending, running] = [new AbortController(), Promise.resolve()];
  });
});
