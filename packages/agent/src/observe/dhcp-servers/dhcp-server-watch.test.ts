import { hardwareAddressSchema, ipAddress, type DhcpReply, type HeardOffer, type IpAddress } from "@berth/core";
import { EnvironmentError, silentLog } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import type { WireTarget } from "../wire/wire-prober.js";
import type { AskedLink } from "./ask-dhcp-servers.js";
import { createDhcpServerWatch } from "./dhcp-server-watch.js";

const OWN = ipAddress("192.168.50.1");
const ROGUE = ipAddress("192.168.1.1");
const MAC = hardwareAddressSchema.parse("02:00:5e:00:53:07");
const LINK: AskedLink = { interfaceName: "eth0", address: OWN };
const PERIOD_MS = 300_000;

function offerOf(source: IpAddress): HeardOffer {
  const nothing = {
    hardwareAddress: null,
    nextServer: null,
    relayAddress: null,
    subnetMask: null,
    domainName: null,
    bootFile: null,
  };
  const reply: DhcpReply = {
    ...nothing,
    type: "offer",
    transactionId: 1,
    address: ipAddress("192.168.1.100"),
    serverIdentifier: source,
    leaseSeconds: 60,
    routers: [],
    dnsServers: [],
  };
  return { interfaceName: "eth0", source, reply };
}

describe("watch for foreign DHCP servers", () => {
  function setUp(periodMs = PERIOD_MS) {
    const clock = createFakeClock(Date.parse("2026-11-30T12:00:00Z"));
    const world = { links: [LINK] as readonly AskedLink[], offers: [] as readonly HeardOffer[], failing: null as Error | null };
    const seen = { rounds: 0, probed: [] as WireTarget[], changes: 0 };
    const watch = createDhcpServerWatch({
      clock,
      log: silentLog,
      random: () => 0.5,
      links: () => world.links,
      trusted: () => new Set([OWN]),
      ask: () => {
        seen.rounds += 1;
        return world.failing === null ? Promise.resolve(world.offers) : Promise.reject(world.failing);
      },
      prober: {
        probe: (targets) => {
          seen.probed.push(...targets);
          return Promise.resolve(targets.map((target) => ({ target, hardwareAddresses: [MAC] })));
        },
      },
      onChange: () => (seen.changes += 1),
      periodMs,
    });
    const ending = new AbortController();
    const running = watch.run(ending.signal);
    const pass = async (ms: number): Promise<void> => {
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      await clock.advance(ms);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    };
    const end = async (): Promise<void> => {
      ending.abort(new Error("end of the test"));
      await running;
    };
    const codes = (): string[] => watch.problems().map(({ code, at }) => `${code} ${at}`);
    return { world, seen, watch, pass, end, codes };
  }
  const SETTLED = 2_000;

  it("names a foreign server with its hardware address, and forgets it when it was silent for three rounds", async () => {
    const { world, seen, watch, pass, end, codes } = setUp();
    world.offers = [offerOf(ROGUE), offerOf(OWN)];
    watch.nudge();
    await pass(SETTLED);
    expect(codes()).toEqual(["foreign-dhcp-server eth0"]);
    expect(watch.problems()[0]?.message).toContain(MAC);
    expect(seen.probed).toEqual([{ address: ROGUE, interfaceName: "eth0", source: OWN }]);
    await pass(PERIOD_MS);
    await pass(SETTLED);
    expect([seen.rounds, seen.changes]).toEqual([2, 1]);
    world.offers = [];
    for (let round = 0; round < 3; round++) {
      expect(codes()).toHaveLength(1);
      await pass(PERIOD_MS);
      await pass(SETTLED);
    }
    expect([codes(), seen.changes]).toEqual([[], 2]);
    await end();
  });

  it("looks again when its links change, not when they stay", async () => {
    const { world, seen, watch, pass, end } = setUp();
    watch.nudge();
    await pass(SETTLED);
    watch.nudge();
    await pass(SETTLED);
    expect(seen.rounds).toBe(1);
    world.links = [{ ...LINK, interfaceName: "eth1" }];
    watch.nudge();
    await pass(SETTLED);
    expect(seen.rounds).toBe(2);
    await end();
  });

  it("says why it cannot look, keeps what it knew, and recovers", async () => {
    const { world, watch, pass, end, codes } = setUp();
    world.offers = [offerOf(ROGUE)];
    watch.nudge();
    await pass(SETTLED);
    world.failing = new EnvironmentError("dhcp-question-failed", "0.0.0.0", "no port");
    await pass(PERIOD_MS);
    await pass(SETTLED);
    expect(codes()).toEqual(["foreign-dhcp-server eth0", "dhcp-question-failed 0.0.0.0"]);
    world.failing = null;
    await pass(PERIOD_MS);
    await pass(SETTLED);
    expect(codes()).toEqual(["foreign-dhcp-server eth0"]);
    await end();
  });

  it("asks nobody without a served link, and never when it is told so", async () => {
    const idle = setUp();
    idle.world.links = [];
    idle.watch.nudge();
    await idle.pass(SETTLED);
    expect(idle.seen.rounds).toBe(0);
    await idle.end();
    const off = setUp(0);
    off.watch.nudge();
    await off.pass(SETTLED);
    expect(off.seen.rounds).toBe(0);
    await off.end();
  });
});
