import { createLeaseReader, type LeaseReport } from "@berth/core";
import { createLog } from "@berth/host";
import { createFakeClock, createFakeFollowFiles, type FakeClock, type FakeFollowFiles } from "@berth/host/fakes";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLeaseFollower } from "./lease-follower.js";
import type { LeaseChange, LeaseFollower } from "./model.js";

const PATH = "/leases/dhcpd.leases";
const START = Date.UTC(2026, 0, 1);

let files: FakeFollowFiles;
let clock: FakeClock;
let follower: LeaseFollower;
let changes: LeaseChange[];
let stop: AbortController;
let ended: Promise<void>;
/** Codes of the warnings in the log. */
let warned: string[];

beforeEach(() => {
  files = createFakeFollowFiles();
  clock = createFakeClock(START);
  changes = [];
  warned = [];
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  await ended;
  expect({ open: files.openFiles, watches: files.watches, sleepers: clock.sleepers }).toEqual({
    open: 0,
    watches: 0,
    sleepers: 0,
  });
});

async function start(): Promise<void> {
  const ports = { local: files, network: files };
  const log = createLog({ level: "warn", write: (line) => warned.push((JSON.parse(line) as { code: string }).code) });
  follower = createLeaseFollower({ path: PATH, clock, ports, log, createReader: createLeaseReader });
  // A copy: reports are made when they are read.
  follower.onChange(({ keys, reset, upserts, gone }) => changes.push({ keys, reset, upserts, gone }));
  ended = follower.run(stop.signal);
  await clock.advance(0);
}

describe("following", () => {
  it("tells the whole table first, then only what changes", async () => {
    files.write(PATH, lease(1) + lease(2));
    await start();
    expect(told()).toEqual([{ reset: true, used: ["192.0.2.1", "192.0.2.2"], free: [], gone: [] }]);
    files.append(PATH, lease(3));
    await clock.advance(0);
    expect(told()[1]).toEqual({ reset: false, used: ["192.0.2.3"], free: [], gone: [] });
    expect(follower.snapshot().map(({ address }) => address)).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
  });

  it("hands out what was there in pages, each as it is when it is made", async () => {
    files.write(PATH, lease(1) + lease(2) + lease(3));
    await start();
    const pages = follower.pages();
    rewrite(lease(1) + lease(3, -1) + lease(4));
    await clock.advance(0);
    const page = (from: number, to: number): unknown => pages.slice(from, to).map(({ address, inUse }) => [address, inUse]);
    expect(pages.length).toBe(3);
    expect(page(0, 2)).toEqual([["192.0.2.1", true]]);
    expect(page(2, 3)).toEqual([["192.0.2.3", false]]);
  });

  it("finds the leases of hardware addresses, and no others", async () => {
    files.write(PATH, lease(1) + lease(2) + lease(3));
    await start();
    const mine = ["00:00:5e:00:53:01", "00:00:5e:00:53:03", "00:00:5e:00:53:99"];
    expect(follower.leasesOf(mine).map(({ address }) => address)).toEqual(["192.0.2.1", "192.0.2.3"]);
    files.append(PATH, lease(99));
    await clock.advance(0);
    expect(follower.leasesOf(mine).map(({ address }) => address)).toEqual(["192.0.2.1", "192.0.2.3", "192.0.2.99"]);
  });

  it("tells the first of a burst at once and all others in one call of the next turn", async () => {
    files.write(PATH, "");
    await start();
    for (let host = 1; host <= 50; host++) files.append(PATH, lease(host));
    await clock.advance(0);
    expect(changes.map(({ upserts }) => upserts.length)).toEqual([0, 1, 49]);
  });

  it("says nothing of a rewrite that changes nothing", async () => {
    files.write(PATH, lease(1) + lease(2));
    await start();
    rewrite(lease(2) + lease(1));
    await clock.advance(0);
    expect(changes).toHaveLength(1);
    expect(follower.health()).toMatchObject({ generation: 2, state: { kind: "following" }, lagBytes: 0 });
  });

  it("drops what a rewrite dropped", async () => {
    files.write(PATH, lease(1) + lease(2));
    await start();
    rewrite(lease(1));
    await clock.advance(0);
    expect(told()[1]).toEqual({ reset: false, used: [], free: [], gone: ["192.0.2.2"] });
  });

  it("reads the old file to its end before it judges the new one", async () => {
    files.write(PATH, lease(1));
    await start();
    files.mute(true);
    files.append(PATH, lease(2));
    files.rename(PATH, `${PATH}~`);
    files.write(PATH, ""); // not believed yet: what stands is the old file, whole
    await clock.advance(1000);
    expect(follower.health().state.kind).toBe("settling");
    expect(told().at(-1)?.used).toEqual(["192.0.2.2"]);
  });

  it("does not wake for its neighbours in the directory", async () => {
    files.write(PATH, lease(1));
    await start();
    const { wakes } = follower.health();
    for (let line = 0; line < 100; line++) files.append("/leases/agent.log", "line\n");
    files.append(`${PATH}~`, lease(9));
    await clock.advance(0);
    expect(follower.health().wakes).toBe(wakes);
  });

  it("waits for the end of a torn block", async () => {
    files.write(PATH, lease(1).slice(0, 60));
    await start();
    expect(follower.snapshot()).toEqual([]);
    expect(follower.health()).toMatchObject({ pendingTail: true, lagBytes: 0 });
    files.append(PATH, lease(1).slice(60));
    await clock.advance(0);
    expect(told().at(-1)?.used).toEqual(["192.0.2.1"]);
  });

  it("stops calling a listener that has left", async () => {
    await start();
    const leave = follower.onChange(() => {
      throw new Error("it was called");
    });
    leave();
    files.write(PATH, lease(1));
    await clock.advance(0);
    expect(told()).toHaveLength(1);
  });
});

describe("a DHCPv6 file", () => {
  const ia = (kind: string, id: string, body: string): string =>
    `${kind} "${id}\\000\\000\\000\\001\\002" {\n  cltt 4 2025/12/25 00:00:00;\n${body}}\n`;
  const ends = "    binding state active;\n    preferred-life 600;\n    max-life 900;\n    ends 4 2037/12/31 00:00:00;\n";
  const address = ia("ia-na", "A", `  iaaddr 2001:db8::1 {\n${ends}  }\n`);
  const prefix = ia("ia-pd", "B", `  iaprefix 2001:db8:ff00:100::/56 {\n${ends}  }\n`);

  it("tells addresses as reports and prefixes by their keys", async () => {
    files.write(PATH, address);
    await start();
    files.append(PATH, prefix);
    await clock.advance(0);
    expect(told()).toEqual([
      { reset: true, used: ["2001:db8::1"], free: [], gone: [] },
      { reset: false, used: [], free: [], gone: [] },
    ]);
    expect(changes[1]?.keys).toEqual(["2001:db8:ff00:100::/56"]);
    expect(follower.lease("2001:db8:ff00:100::/56")).toMatchObject({ type: "pd" });
    rewrite(prefix);
    await clock.advance(0);
    expect(told()[2]?.gone).toEqual(["2001:db8::1"]);
    rewrite(address);
    await clock.advance(0);
    expect(told()[3]?.used).toEqual(["2001:db8::1"]);
    expect(changes[3]?.gone).toEqual([]);
    expect([...(changes[3]?.keys ?? [])].sort()).toEqual(["2001:db8:ff00:100::/56", "2001:db8::1"].sort());
    expect(follower.lease("2001:db8:ff00:100::/56")).toBeNull();
  });
});

describe("the clock", () => {
  it("ends a lease at its time without any write", async () => {
    files.write(PATH, lease(1, 90));
    await start();
    await clock.advance(89_999);
    expect(changes).toHaveLength(1);
    await clock.advance(1);
    expect(told()[1]).toEqual({ reset: false, used: [], free: ["192.0.2.1"], gone: [] });
  });

  it("ends leases within a poll when it is set on, and revives them when it is set back", async () => {
    files.write(PATH, lease(1, 3600));
    await start();
    expect(follower.health().clockStepMs).toBeNull();
    clock.step(7_200_000);
    await clock.advance(1000);
    expect(follower.health().clockStepMs).toBe(7_200_000);
    expect(told().at(-1)?.free).toEqual(["192.0.2.1"]);
    clock.step(-7_200_000);
    await clock.advance(1000);
    expect(told().at(-1)?.used).toEqual(["192.0.2.1"]);
    expect(changes).toHaveLength(3);
  });
});

describe("trouble", () => {
  it("keeps the table while the file is away, names it after the grace time and recovers", async () => {
    files.write(PATH, lease(1));
    await start();
    files.mute(true);
    files.append(PATH, lease(2)); // unseen until it is drained
    files.mute(false);
    files.unlink(PATH);
    await clock.advance(0);
    expect(follower.health()).toMatchObject({ state: { kind: "missing" }, problems: [] });
    expect(follower.snapshot()).toHaveLength(2);
    await clock.advance(5000);
    expect(follower.health()).toMatchObject({ state: { kind: "lost" }, problems: [{ code: "leases-missing", at: PATH }] });
    expect(follower.snapshot()).toHaveLength(2);
    files.write(PATH, lease(1));
    await clock.advance(0);
    expect(follower.health()).toMatchObject({ state: { kind: "following" }, problems: [] });
    expect(told().at(-1)).toEqual({ reset: false, used: [], free: [], gone: ["192.0.2.2"] });
  });

  it("looks about once a second while there is no file", async () => {
    let looks = 0;
    const stamp = files.stamp.bind(files);
    files.stamp = (path) => {
      looks += 1;
      return stamp(path);
    };
    await start();
    await clock.advance(10_000);
    expect(looks).toBeGreaterThanOrEqual(10);
    expect(looks).toBeLessThanOrEqual(12);
  });

  it("believes an emptied file only when it stays so", async () => {
    files.write(PATH, lease(1));
    await start();
    files.truncate(PATH);
    await clock.advance(999);
    expect(follower.health().state).toMatchObject({ kind: "settling", reason: "shrunk" });
    expect(changes).toHaveLength(1);
    await clock.advance(1);
    expect(told()[1]?.gone).toEqual(["192.0.2.1"]);
  });

  it("reads on where a server writes behind the hole of its truncated file", async () => {
    files.write(PATH, lease(1));
    await start();
    files.truncate(PATH);
    files.append(PATH, "\0".repeat(lease(1).length) + lease(2)); // dhcpd goes on at its old offset
    await clock.advance(2000);
    expect(follower.snapshot().map(({ address }) => address)).toEqual(["192.0.2.2"]);
  });

  it.each([
    ["stamp", "file-unreadable", "unreadable", "leases-unreadable"],
    ["open", "file-unreadable", "unreadable", "leases-unreadable"],
    ["open", "too-many-files", "failing", "leases-read-failed"],
    ["read", "file-read-failed", "failing", "leases-read-failed"],
  ] as const)("names a failing %s (%s) and recovers", async (call, code, kind, problem) => {
    files.write(PATH, lease(1));
    await start();
    files.fail(call, code);
    rewrite(lease(1) + lease(2));
    await clock.advance(3000);
    expect(follower.health()).toMatchObject({
      state: { kind, since: expect.any(Number) as number },
      problems: [{ code: problem }],
    });
    expect(follower.snapshot()).toHaveLength(1);
    const { state } = follower.health();
    await clock.advance(3000);
    expect(follower.health().state).toEqual(state); // since when, not again and again
    files.fail(call, null);
    await clock.advance(1000);
    expect(follower.health()).toMatchObject({ state: { kind: "following" }, problems: [] });
    expect(follower.snapshot()).toHaveLength(2);
  });

  it("warns of a full disk for as long as it is full", async () => {
    files.write(PATH, lease(1));
    await start();
    files.setFreeBytes(4096);
    await clock.advance(1000);
    expect(follower.health()).toMatchObject({
      freeBytes: 4096,
      state: { kind: "following" },
      problems: [{ code: "leases-disk-full" }],
    });
    files.setFreeBytes(1e9);
    await clock.advance(1000);
    expect(follower.health().problems).toEqual([]);
  });

  it("polls a network filesystem and says so", async () => {
    files.setFilesystem({ kind: "network", name: "NFS" });
    files.write(PATH, lease(1));
    await start();
    expect(files.watches).toBe(0);
    expect(follower.health()).toMatchObject({
      watching: { kind: "polling", reason: "network", detail: "NFS" },
      problems: [{ code: "leases-on-network-filesystem" }],
    });
    files.append(PATH, lease(2));
    await clock.advance(1000);
    expect(follower.snapshot()).toHaveLength(2);
  });

  it("polls while the directory cannot be watched, and watches when it can", async () => {
    files.fail("watch", "directory-unwatchable");
    files.write(PATH, lease(1));
    await start();
    expect(follower.health()).toMatchObject({ watching: { kind: "polling" }, problems: [{ code: "leases-unwatchable" }] });
    files.append(PATH, lease(2));
    await clock.advance(1000);
    expect(follower.snapshot()).toHaveLength(2);
    await clock.advance(3000);
    expect(warned).toEqual(["leases-unwatchable"]);
    files.fail("watch", null);
    await clock.advance(1000);
    expect(follower.health()).toMatchObject({ watching: { kind: "events" }, problems: [] });
    files.fail("watch", "directory-unwatchable");
    files.replaceDirectory("/leases");
    await clock.advance(2000);
    expect(warned).toEqual(["leases-unwatchable", "leases-unwatchable"]);
  });

  it("watches the directory that has taken the place of the old one", async () => {
    files.write(PATH, lease(1));
    await start();
    files.replaceDirectory("/leases");
    await clock.advance(1000);
    expect(files.watches).toBe(1);
    files.append(PATH, lease(2));
    await clock.advance(0);
    expect(follower.snapshot()).toHaveLength(2);
  });

  it("finds by its poll what no event told", async () => {
    files.write(PATH, lease(1));
    await start();
    files.mute(true);
    files.append(PATH, lease(2));
    await clock.advance(999);
    expect(follower.snapshot()).toHaveLength(1);
    expect(follower.health().lagBytes).toBe(0);
    await clock.advance(1);
    expect(follower.snapshot()).toHaveLength(2);
    expect(follower.health().lastChangeAgeMs).toBe(0);
  });
});

/** As dhcpd does it: a new file aside, the old one under `~`, the new one moved over. */
function rewrite(text: string): void {
  files.write(`${PATH}.17`, text);
  files.rename(PATH, `${PATH}~`);
  files.rename(`${PATH}.17`, PATH);
}

function told(): { reset: boolean; used: string[]; free: string[]; gone: readonly string[] }[] {
  const addresses = (reports: readonly LeaseReport[], used: boolean): string[] =>
    reports.filter(({ inUse }) => inUse === used).map(({ address }) => address);
  return changes.map(({ reset, upserts, gone }) => ({
    reset,
    used: addresses(upserts, true),
    free: addresses(upserts, false),
    gone,
  }));
}

/** An active lease that ends so many seconds after the start. */
function lease(host: number, endsAfter = 86_400): string {
  const time = (ms: number): string => {
    const date = new Date(ms);
    return `${date.getUTCDay()} ${date.toISOString().slice(0, 19).replaceAll("-", "/").replace("T", " ")}`;
  };
  return `lease 192.0.2.${host} {
  starts ${time(START - 3_600_000)};
  ends ${time(START + endsAfter * 1000)};
  binding state active;
  hardware ethernet 00:00:5e:00:53:${String(host).padStart(2, "0")};
}
`;
}
