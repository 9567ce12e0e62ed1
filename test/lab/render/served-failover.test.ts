import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { goldenCase } from "../../golden-cases.js";
import type { Host } from "../host.js";
import { createLab, type Lab } from "../lab.js";
import { strangerMac, type Exchange, type RawDhcpClient, type Stranger } from "../raw-dhcp-client.js";
import { requireTools } from "../require-tools.js";
import type { Running } from "../running.js";
import { waitUntil } from "../wait-until.js";
import { serveGolden } from "./rendered-rack.js";

/** A rack that lost its partner answers for it only after `max-response-delay` (10 s) or `load balance max seconds`. */
const PERSISTENT = { waitMs: 2_000, attempts: 8 };
/** Of the window's 20 addresses one is left out. */
const POOL = 19;

describe("a failover pair on one segment", () => {
  let lab: Lab;
  let racks: readonly [Host, Host];
  let pair: readonly [Running, Running];
  let clients: RawDhcpClient;
  /** Who was told that it has the address, ever. Nobody releases in these tests. */
  let holders: Map<string, Set<string>>;

  beforeEach(async () => {
    requireTools(["ip", "dhcpd", "gcc"]);
    lab = await createLab({ name: "served-failover.test" });
    const link = await lab.addLink("rack");
    const add = async (name: string, address: string): Promise<Host> => {
      const rack = await lab.addRack(name, { backbone: null });
      await rack.connect(link, { addresses: [`${address}/24`] });
      return rack;
    };
    racks = [await add("one", "192.168.50.1"), await add("two", "192.168.50.2")];
    pair = [
      await serveGolden(racks[0], goldenCase("failover-primary")),
      await serveGolden(racks[1], goldenCase("failover-secondary")),
    ];
    await normal();
    const crowd = await lab.addHost("crowd");
    await crowd.connect(link);
    clients = await crowd.rawDhcp();
    holders = new Map();
  });
  afterEach(() => lab.close());

  async function normal(count = 1): Promise<void> {
    for (const dhcpd of pair) await said(dhcpd, "Both servers normal", count);
  }

  /** Waits until the line was printed so many times since the start. */
  async function said(dhcpd: Running, words: string, count: number): Promise<void> {
    await waitUntil(() => dhcpd.lines.filter((line) => line.includes(words)).length, {
      describe: `dhcpd says '${words}' for the ${count}. time`,
      deadlineMs: 90_000,
      until: (times) => times >= count,
    });
  }

  /** Silent strangers: neither ping nor ARP would warn a rack that gives an address twice. */
  async function join(first: number, count: number): Promise<Exchange[]> {
    const strangers = Array.from({ length: count }, (_, n): Stranger => ({ mac: strangerMac(first + n), answers: "nothing" }));
    const got = await clients.each(strangers, (stranger) => clients.dora(stranger, PERSISTENT));
    for (const exchange of got) note(exchange);
    return got;
  }

  function note({ address, stranger }: Exchange): void {
    if (address === null) return;
    holders.set(address, (holders.get(address) ?? new Set()).add(stranger.mac));
  }

  function expectNobodySharesAnAddress(): void {
    expect([...holders].filter(([, macs]) => macs.size > 1)).toEqual([]);
  }

  const served = (exchanges: readonly Exchange[]): Exchange[] => exchanges.filter(({ address }) => address !== null);

  it("shares the strangers, and none of the window is lost", async () => {
    const got = await join(0, POOL + 6);
    expectNobodySharesAnAddress();
    expect(served(got)).toHaveLength(POOL);
    expect(holders.has("192.168.50.103")).toBe(false);
    expect(new Set(served(got).map(({ reply }) => reply?.serverId))).toEqual(new Set(["192.168.50.1", "192.168.50.2"]));
  });

  it("goes on with one rack killed: renewals for all, its own share for strangers", async () => {
    const before = served(await join(0, 8));
    expect(before).toHaveLength(8);
    await pair[0].stop({ signal: "SIGKILL" });
    await pair[1].waitForLine("communications-interrupted", { deadlineMs: 60_000 });
    for (const { stranger, address } of before) {
      const answering: Stranger = { ...stranger, answers: "arp" }; // dhcpd asks for the address before it answers to it
      const renewed = await clients.renew(answering, address ?? "", PERSISTENT);
      expect(renewed.address).toBe(address);
    }
    const after = served(await join(100, POOL));
    expect(after.length).toBeGreaterThan(2);
    expect(new Set(after.map(({ reply }) => reply?.serverId))).toEqual(new Set(["192.168.50.2"]));
    expectNobodySharesAnAddress();
  });

  it("goes on with one rack frozen, and with both once it thaws", async () => {
    await join(0, 6);
    pair[1].kill("SIGSTOP");
    const meanwhile = served(await join(100, 5));
    expect(meanwhile.length).toBeGreaterThan(2);
    expect(new Set(meanwhile.map(({ reply }) => reply?.serverId))).toEqual(new Set(["192.168.50.1"]));
    pair[1].kill("SIGCONT");
    await normal(2);
    await join(200, POOL);
    expectNobodySharesAnAddress();
    expect(holders.size).toBe(POOL);
  });

  it("gives no address twice while the racks are cut off from each other and the machines reach both", async () => {
    await join(0, 4);
    await racks[0].ip("route", "add", "unreachable", "192.168.50.2/32");
    await racks[1].ip("route", "add", "unreachable", "192.168.50.1/32");
    for (const dhcpd of pair) await dhcpd.waitForLine("communications-interrupted", { deadlineMs: 60_000 });
    const apart = served(await join(100, POOL));
    expect(new Set(apart.map(({ reply }) => reply?.serverId)).size).toBe(2);
    expectNobodySharesAnAddress();
    await racks[0].ip("route", "del", "unreachable", "192.168.50.2/32");
    await racks[1].ip("route", "del", "unreachable", "192.168.50.1/32");
    await normal(2);
    await join(200, POOL);
    expectNobodySharesAnAddress();
    expect(holders.size).toBe(POOL);
  });
});
