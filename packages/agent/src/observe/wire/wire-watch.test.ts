import { ipAddress, ipPrefix, parseHardwareAddress, type IpAddress, type Neighbor, type WireAnswer } from "@berth/core";
import { EnvironmentError, silentLog } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import type { WireTarget } from "./wire-prober.js";
import { createWireWatch, PROBE_AGAIN_MS, type WireLink } from "./wire-watch.js";

const LINK: WireLink = { interfaceName: "eth0", prefix: ipPrefix("192.168.50.0/24"), address: ipAddress("192.168.50.1") };
const at = (last: number): IpAddress => ipAddress(`192.168.50.${last}`);

function mac() {
  const address = parseHardwareAddress("02:00:5e:00:53:0a");
  if (address === null) throw new Error("not a hardware address");
  return address;
}

describe("looking at the wires", () => {
  function setUp() {
    const clock = createFakeClock(Date.parse("2026-11-30T12:00:00Z"));
    const world = { neighbors: [] as Neighbor[], links: [LINK], failing: null as Error | null };
    const asked: string[] = [];
    const told: WireAnswer[] = [];
    const changes: (string | null)[] = [];
    const probe = (targets: readonly WireTarget[]) => {
      asked.push(targets.map(({ address, source }) => `${source}>${address}`).join(" "));
      if (world.failing !== null) return Promise.reject(world.failing);
      return Promise.resolve(targets.map((target) => ({ target, hardwareAddresses: target.address === at(9) ? [mac()] : [] })));
    };
    const watch = createWireWatch({
      clock,
      log: silentLog,
      links: () => world.links,
      prober: { probe },
      neighbors: () => Promise.resolve(world.neighbors),
      report: (answers) => void told.push(...answers),
      onChange: () => void changes.push(watch.problem()?.code ?? null),
    });
    const ending = new AbortController();
    const running = watch.run(ending.signal);
    const pass = async (ms = 200): Promise<void> => {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      await clock.advance(ms);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    };
    const end = async (): Promise<void> => {
      ending.abort(new Error("end of the test"));
      await running;
    };
    return { clock, world, asked, told, changes, watch, pass, end };
  }

  it("probes what the region wants, on the link where it is, and again when the answer is old", async () => {
    const { asked, told, watch, pass, end } = setUp();
    watch.want([at(9), at(10), at(1), ipAddress("10.0.0.1")]);
    await pass();
    expect(asked).toEqual(["192.168.50.1>192.168.50.9 192.168.50.1>192.168.50.10"]);
    expect(told.map(({ address, hardwareAddresses, how }) => [address, hardwareAddresses, how])).toEqual([
      [at(9), [mac()], "probe"],
      [at(10), [], "probe"],
    ]);
    expect(watch.all()).toEqual(told);
    for (let waited = 0; waited < PROBE_AGAIN_MS - 20_000; waited += 10_000) await pass(10_000);
    expect(asked).toHaveLength(1);
    for (let waited = 0; waited < 30_000; waited += 10_000) await pass(10_000);
    expect(asked).toHaveLength(2);
    await end();
  });

  it("takes what was never probed first, a bounded number at a time", async () => {
    const { asked, watch, pass, end } = setUp();
    watch.want([at(9)]);
    await pass();
    watch.want(Array.from({ length: 40 }, (_, n) => at(n + 9)));
    await pass();
    await pass();
    expect(asked.map((line) => line.split(" ").length)).toEqual([1, 32, 7]);
    expect(asked[1]).not.toContain("192.168.50.9 ");
    await end();
  });

  it("passes on neighbours of its own networks whom the kernel has just heard", async () => {
    const { world, told, pass, end } = setUp();
    const neighbor = (address: IpAddress, state: string): Neighbor => ({
      interfaceName: "eth0",
      address,
      hardwareAddress: mac(),
      states: [state],
    });
    world.neighbors = [neighbor(at(7), "REACHABLE"), neighbor(at(8), "STALE"), neighbor(ipAddress("169.254.1.1"), "REACHABLE")];
    await pass(60_000);
    await pass(10_000);
    expect(told.map(({ address, how }) => `${address} ${how}`)).toEqual(["192.168.50.7 neighbor"]);
    await end();
  });

  it("says why it cannot look, and goes on when it can", async () => {
    const { world, changes, watch, pass, end } = setUp();
    world.failing = new EnvironmentError("wire-unreachable", "eth0", "down");
    watch.want([at(9)]);
    await pass();
    expect(watch.problem()).toMatchObject({ code: "wire-unreachable", at: "eth0" });
    world.failing = null;
    await pass(5_000);
    await pass();
    expect([watch.problem(), changes]).toEqual([null, ["wire-unreachable", null]]);
    await end();
  });
});
