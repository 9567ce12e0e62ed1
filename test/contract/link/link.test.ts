import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  FRAME_BYTES_MAX,
  hardwareAddressSchema,
  ipAddress,
  LEASES_PER_FRAME_MAX,
  type DesiredState,
  type RackView,
} from "@berth/core";
import { waitUntil } from "../../lab/wait-until.js";
import { admit, createLinkWorld, TOLD, type CarrierName, type LinkWorld } from "./link-world.js";
import { desired, lease, nic, problem, rawPeer, startRack, type RawPeer, type TestRack } from "./test-rack.js";

const CARRIERS: readonly CarrierName[] = ["in memory", "over TLS"];

describe.each(CARRIERS)("link %s", (carrier) => {
  let world: LinkWorld;
  let racks: TestRack[];

  beforeEach(async () => {
    racks = [];
    world = await createLinkWorld(carrier);
  });

  afterEach(async () => {
    await Promise.all(racks.map((rack) => rack.stop()));
    await world.stop();
  });

  async function start(hostname: string, changes: Parameters<typeof startRack>[2] = {}): Promise<TestRack> {
    const rack = startRack(world, await admit(world, hostname), changes);
    racks.push(rack);
    return rack;
  }

  function view(rack: TestRack): RackView {
    const seen = world.registry().view(rack.identity.rack);
    if (seen === null) throw new Error("the rack is not known");
    return seen;
  }

  const connected = (rack: TestRack): Promise<unknown> =>
    waitUntil(() => [world.connected(), rack.link.status()], {
      describe: "the rack has a session",
      until: () => world.connected().includes(rack.identity.rack) && rack.link.status().state === "connected",
    });

  it("carries what a rack sees up, and what it must run down", async () => {
    const rack = await start("r1");
    rack.leases.set("a", lease("192.0.2.7"));
    rack.link.reportHost({ interfaces: [nic("eth0", "192.0.2.1")], knowledge: null });
    rack.link.reportStatus({ accepted: 0, daemons: [], problems: [problem("made-up")] });
    world.desired.set(rack.identity.rack, desired(rack.identity.rack, 3));
    await waitUntil(() => view(rack), {
      describe: "interfaces, leases, status and generation arrived",
      until: (seen) => seen.interfaces.length === 1 && seen.leases.size === 1 && seen.problems.length === 1,
    });
    world.push(rack.identity.rack);
    await waitUntil(() => view(rack).accepted, { describe: "generation 3 is on the rack's disk", until: (n) => n === 3 });
    expect(rack.taken).toEqual([desired(rack.identity.rack, 3)]);
    expect(view(rack)).toMatchObject({ name: "r1", connected: true, interfaces: [nic("eth0", "192.0.2.1")] });
    expect([...view(rack).leases.values()]).toEqual([lease("192.0.2.7")]);
  });

  it("sends a desired state at the hello when the rack's is older, and only then", async () => {
    const identity = await admit(world, "r1");
    world.desired.set(identity.rack, desired(identity.rack, 5));
    const behind = await rawPeer(world, identity);
    behind.hello({ generation: 4 });
    await waitUntil(() => behind.heard, { describe: "desired", until: (heard) => heard.some(({ type }) => type === "desired") });
    const level = await rawPeer(world, identity);
    level.hello({ generation: 5 });
    level.say({ type: "status", sequence: 1, accepted: 5, daemons: [], problems: [], ntp: null });
    await waitUntil(() => level.heard, {
      describe: "acknowledged",
      until: (heard) => heard.some(({ type }) => type === "acknowledge"),
    });
    expect(level.heard.map(({ type }) => type)).toEqual(["welcome", "acknowledge"]);
  });

  it("sends only what changes of the state that the rack has, and the whole where it has another", async () => {
    const rack = await start("r1");
    const id = rack.identity.rack;
    const heard = (): string[] => rack.heard.flatMap(({ type }) => (type.startsWith("desired") ? [type] : []));
    const give = async (state: DesiredState): Promise<void> => {
      world.desired.set(id, state);
      world.push(id);
      await waitUntil(() => view(rack).accepted, { describe: "it is on the rack's disk", until: (n) => n === state.generation });
    };
    const made = (generation: number): DesiredState => ({
      ...desired(id, generation),
      forwarders: [ipAddress(`192.0.2.${generation}`)],
    });
    await give(made(1));
    await give(made(2));
    expect(rack.taken.at(-1)).toEqual(made(2));
    rack.cut();
    await waitUntil(() => rack.heard.length, {
      describe: "greeted anew",
      until: () => rack.heard.filter(({ type }) => type === "welcome").length === 2,
    });
    await give(made(3));
    expect(heard()).toEqual(["desired", "desired-change", "desired-change"]);
    // What the region knows of is not what the rack has: somebody put another file there.
    rack.taken.push(desired(id, 3));
    await give(made(4));
    expect(heard().slice(3)).toEqual(["desired-change", "desired"]);
    expect(rack.taken.at(-1)).toEqual(made(4));
    await give(made(5));
    expect(heard().slice(5)).toEqual(["desired-change"]);
  });

  it("sends the whole to an agent that knows of no changes, and once to one that cannot use one", async () => {
    const identity = await admit(world, "r1");
    const old = await rawPeer(world, identity);
    const types = (peer: RawPeer): string[] => peer.heard.flatMap(({ type }) => (type.startsWith("desired") ? [type] : []));
    const next = async (peer: RawPeer, generation: number, expected: readonly string[]): Promise<void> => {
      world.desired.set(identity.rack, desired(identity.rack, generation));
      world.push(identity.rack);
      await waitUntil(() => types(peer), { describe: expected.join(), until: (seen) => seen.length >= expected.length });
      expect(types(peer)).toEqual(expected);
    };
    world.desired.set(identity.rack, desired(identity.rack, 5));
    old.hello({ generation: 5 });
    await next(old, 6, ["desired"]);
    const odd = await rawPeer(world, identity);
    odd.hello({ generation: 6, takesChanges: true });
    await waitUntil(() => odd.heard.length, { describe: "welcome", until: (count) => count > 0 });
    await next(odd, 7, ["desired-change"]);
    const complain = (): void => odd.say({ type: "receipt", generation: 7, problems: [problem("desired-base-missing")] });
    complain();
    await waitUntil(() => types(odd), { describe: "the whole", until: (seen) => seen.length === 2 });
    for (let i = 0; i < 5; i++) complain();
    await next(odd, 8, ["desired-change", "desired", "desired-change"]);
  });

  it("tells once what a rack shall probe, and again in a new session; carries every answer, and all of them to a session that begins", async () => {
    const [free, held] = [ipAddress("192.0.2.9"), ipAddress("192.0.2.10")];
    const silent = { address: free, hardwareAddresses: [], at: 1000, how: "probe" } as const;
    const answered = {
      address: held,
      hardwareAddresses: [hardwareAddressSchema.parse("02:00:5e:00:53:01")],
      at: 1001,
      how: "neighbor",
    } as const;
    const rack = await start("r1", { wire: () => [silent] });
    const id = rack.identity.rack;
    const told = (): unknown[] => world.heard.flatMap(({ rack: teller, answers }) => (teller === id ? answers : []));
    await waitUntil(told, { describe: "the first session's answers", until: (all) => all.length === 1 });
    world.wishes.set(id, [free, held]);
    world.probe(id);
    world.probe(id);
    rack.link.reportWire([answered]);
    await waitUntil(told, { describe: "the answer that is news", until: (all) => all.length === 2 });
    expect([told(), rack.wanted]).toEqual([[silent, answered], [[free, held]]]);
    expect(world.heard.every(({ now }) => now !== undefined)).toBe(true);
    rack.cut();
    await waitUntil(() => rack.wanted.length, { describe: "the list is told to the new session", until: (count) => count === 2 });
    await waitUntil(told, { describe: "and everything to the region", until: (all) => all.length === 3 });
    expect(told()).toEqual([silent, answered, silent]);
  });

  it("sends a refused generation once, and the next one again", async () => {
    const offers: number[] = [];
    const rack = await start("r1", {
      onDesired: (state) => {
        offers.push(state.generation);
        return Promise.resolve(state.generation === 1 ? problem("not-this-one") : null);
      },
    });
    await connected(rack);
    for (const generation of [1, 1, 2]) {
      world.desired.set(rack.identity.rack, desired(rack.identity.rack, generation));
      for (let i = 0; i < 20; i++) world.push(rack.identity.rack);
      await waitUntil(() => offers, { describe: `generation ${generation} offered`, until: (seen) => seen.includes(generation) });
    }
    await waitUntil(() => view(rack).accepted, { describe: "generation 2 accepted", until: (n) => n === 2 });
    expect(offers).toEqual([1, 2]);
  });

  it("pages a large snapshot and sends only changes after it", async () => {
    const rack = await start("r1");
    const count = LEASES_PER_FRAME_MAX * 2 + 5;
    for (let i = 0; i < count; i++) rack.leases.set(String(i), lease(`10.0.${i >> 8}.${i & 255}`));
    rack.link.renewLeases();
    await waitUntil(() => view(rack).leases.size, { describe: "all leases arrived", until: (size) => size === count });
    rack.link.changeLeases({ upserts: [lease("10.0.0.1", { state: "free", inUse: false })], gone: [ipAddress("10.0.0.2")] });
    await waitUntil(() => view(rack).leases.get(ipAddress("10.0.0.1"))?.state, {
      describe: "the change arrived",
      until: (s) => s === "free",
    });
    expect(view(rack).leases.size).toBe(count - 1);
    const pages = rack.sent.flatMap((message) => (message.type === "leases" ? [message.page] : []));
    expect(pages.slice(-4)).toEqual(["begin", "more", "end", "delta"]);
  });

  it("resumes after a cut: no second snapshot, nothing lost, nothing of before is sent twice", async () => {
    const rack = await start("r1");
    rack.leases.set("a", lease("192.0.2.7"));
    rack.link.renewLeases();
    await waitUntil(() => view(rack).leases.size, { describe: "the snapshot arrived", until: (size) => size === 1 });
    await waitUntil(() => rack.link.status(), { describe: "connected", until: ({ state }) => state === "connected" });
    rack.sent.length = 0;
    rack.cut();
    rack.link.changeLeases({ upserts: [lease("192.0.2.8")], gone: [] });
    await waitUntil(() => view(rack).leases.size, { describe: "the change of the outage arrived", until: (size) => size === 2 });
    const frames = rack.sent.filter((message) => message.type === "leases");
    expect(frames.map(({ page }) => page)).not.toContain("whole");
    expect(frames.flatMap((frame) => frame.leases.map(({ address }) => address))).not.toContain("192.0.2.7");
  });

  it("keeps a rack's facts over a restart of the coordinator and takes everything anew", async () => {
    const rack = await start("r1");
    rack.leases.set("a", lease("192.0.2.7"));
    rack.link.reportHost({ interfaces: [nic("eth0", "192.0.2.1")], knowledge: null });
    rack.link.renewLeases();
    await waitUntil(() => view(rack).leases.size, { describe: "the snapshot arrived", until: (size) => size === 1 });
    rack.sent.length = 0;
    await world.restart();
    expect(view(rack)).toMatchObject({ interfaces: [{ name: "eth0" }], joinedAt: expect.any(Number) as number });
    expect(view(rack).leases.size).toBe(1);
    await connected(rack);
    await waitUntil(() => rack.sent, {
      describe: "a snapshot",
      until: (sent) => sent.some((m) => m.type === "leases" && m.page === "whole"),
    });
  });

  it("an empty report of interfaces is no report", async () => {
    const rack = await start("r1");
    rack.link.reportHost({ interfaces: [nic("eth0", "192.0.2.1")], knowledge: null });
    await waitUntil(() => view(rack).interfaces.length, { describe: "interfaces arrived", until: (n) => n === 1 });
    rack.link.reportHost({ interfaces: [], knowledge: null });
    rack.link.reportStatus({ accepted: 0, daemons: [], problems: [problem("after")] });
    await waitUntil(() => view(rack).problems.length, { describe: "the status behind it arrived", until: (n) => n === 1 });
    expect(view(rack).interfaces).toHaveLength(1);
  });

  it("refuses a hello that names another rack than the certificate", async () => {
    const identity = await admit(world, "r1");
    const other = await admit(world, "r2");
    const peer = await rawPeer(world, identity);
    peer.hello({ rack: other.rack });
    await waitUntil(() => peer.closed, { describe: "closed", until: (closed) => closed.length === 1 });
    expect(peer.heard).toMatchObject([{ type: "refuse", problem: { code: "rack-mismatch" } }]);
    expect(peer.closed).toEqual([{ code: 4403, reason: "rack-mismatch" }]);
    expect(world.connected()).toEqual([]);
  });

  it("one bad item never blocks the others", async () => {
    const identity = await admit(world, "r1");
    const peer = await rawPeer(world, identity);
    peer.hello();
    const bad = { ...lease("192.0.2.9"), state: "melted" } as unknown as ReturnType<typeof lease>;
    peer.say({ type: "leases", sequence: 7, page: "whole", leases: [lease("192.0.2.8"), bad, lease("192.0.2.10")], gone: [] });
    const answer = await waitUntil(() => peer.heard.find(({ type }) => type === "acknowledge"), { describe: "acknowledged" });
    expect(answer).toMatchObject({ sequence: 7, problems: [{ code: "message-invalid", at: "leases.leases.1.state" }] });
    expect(world.registry().view(identity.rack)?.leases.size).toBe(2);
  });

  it("answers garbage, ignores what it does not know, and goes on", async () => {
    const identity = await admit(world, "r1");
    const peer = await rawPeer(world, identity);
    peer.hello();
    const frames = [
      [],
      [0xc1],
      [0xdd, 0xff, 0xff, 0xff, 0xff],
      new Array<number>(200_000).fill(0x91),
      [0xc7, 1, 5, 0],
      [0x05],
      [0x80, 0x80],
    ];
    for (const frame of frames) peer.channel.send(Uint8Array.from(frame));
    peer.say({ type: "sing", song: "of tomorrow" } as never);
    peer.say({ type: "interfaces", sequence: "seven" } as never);
    peer.say({ type: "status", sequence: 9, accepted: 0, daemons: [], problems: [], ntp: null });
    await waitUntil(() => peer.heard, {
      describe: "the good frame was acknowledged",
      until: (heard) => heard.at(-1)?.type === "acknowledge",
    });
    expect(peer.heard.filter(({ type }) => type === "problem")).toHaveLength(frames.length + 1);
    expect(peer.closed).toEqual([]);
  });

  it("ends a session that sends nothing but garbage", async () => {
    const peer = await rawPeer(world, await admit(world, "r1"));
    peer.hello();
    for (let i = 0; i < 100; i++) peer.channel.send(Uint8Array.of(0xc1));
    await waitUntil(() => peer.closed, { describe: "closed", until: (closed) => closed.length === 1 });
    expect(peer.closed[0]?.reason).toBe("frame-unreadable");
  });

  it("ends a session at a frame that is too large, and takes the next session", async () => {
    const identity = await admit(world, "r1");
    const peer = await rawPeer(world, identity);
    peer.hello();
    peer.channel.send(new Uint8Array(FRAME_BYTES_MAX + 1));
    await waitUntil(() => peer.closed, { describe: "closed", until: (closed) => closed.length === 1 });
    expect(peer.closed[0]?.code).toBe(1009);
    const next = await rawPeer(world, identity);
    next.hello();
    await waitUntil(() => next.heard, { describe: "welcome", until: (heard) => heard[0]?.type === "welcome" });
  });

  it("ends a session that does not read what it is sent", async () => {
    const identity = await admit(world, "r1");
    const peer = await rawPeer(world, identity, { deaf: true });
    peer.hello();
    await waitUntil(() => world.connected().length, { describe: "a session" });
    const rotten = new Array(64).fill({ ...lease("192.0.2.9"), state: "x".repeat(200) });
    await waitUntil(
      () => {
        for (let i = 0; i < 50; i++) peer.say({ type: "leases", sequence: i, page: "delta", leases: rotten as never, gone: [] });
        return world.connected();
      },
      { describe: "the slow reader lost its session", until: (racks) => racks.length === 0 },
    );
    peer.channel.terminate();
  });

  it("stops although a rack does not say goodbye", async () => {
    const identity = await admit(world, "r1");
    const peer = await rawPeer(world, identity, { deaf: true });
    peer.hello();
    await waitUntil(() => world.connected().length, { describe: "a session" });
    await world.restart();
    expect(world.connected()).toEqual([]);
    peer.channel.terminate();
  }, 10_000);

  it("the newest of two sessions of one rack wins, and the end of the old one means nothing", async () => {
    const identity = await admit(world, "r1");
    const older = await rawPeer(world, identity);
    older.hello();
    await waitUntil(() => older.heard.length, { describe: "first welcome" });
    const newer = await rawPeer(world, identity);
    newer.hello();
    await waitUntil(() => older.closed, { describe: "the older is closed", until: (closed) => closed.length === 1 });
    expect(older.heard.at(-1)).toMatchObject({ type: "refuse", problem: { code: "session-replaced" } });
    newer.say({ type: "status", sequence: 1, accepted: 0, daemons: [], problems: [], ntp: null });
    await waitUntil(() => newer.heard, {
      describe: "the newer is served",
      until: (heard) => heard.at(-1)?.type === "acknowledge",
    });
    expect(world.registry().view(identity.rack)?.connected).toBe(true);
  });

  it("keeps the addresses that the region tells, beside those it has", async () => {
    const rack = await start("r1");
    await waitUntil(() => rack.saved, { describe: "the identity is saved", until: (saved) => saved.length > 0 });
    expect(rack.saved.at(-1)?.regions).toEqual([world.address(), ...TOLD]);
    expect(rack.saved.at(-1)).toMatchObject({ rack: rack.identity.rack, certificate: rack.identity.certificate });
  });

  it("a removed rack loses its session and cannot come back", async () => {
    const rack = await start("r1");
    await connected(rack);
    expect(await world.registry().remove(rack.identity.rack)).toBe(true);
    await waitUntil(() => rack.link.status(), { describe: "refused", until: ({ problem: why }) => why?.code === "rack-unknown" });
    expect(world.connected()).toEqual([]);
    expect(await world.registry().remove(rack.identity.rack)).toBe(false);
  });

  it("many racks whose coordinator restarts all come back", async () => {
    const many = await Promise.all(Array.from({ length: 50 }, (_, i) => start(`r${i}`, { random: () => i / 50 })));
    await waitUntil(() => world.connected().length, {
      describe: "all connected",
      until: (n) => n === many.length,
      deadlineMs: 40_000,
    });
    await world.restart();
    await waitUntil(() => world.connected().length, {
      describe: "all back",
      until: (n) => n === many.length,
      deadlineMs: 40_000,
    });
  }, 120_000);
});
