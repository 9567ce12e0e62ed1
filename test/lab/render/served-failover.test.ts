import { readFileSync } from "node:fs";
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

describe("a failover pair on one segment", { timeout: 300_000 }, () => {
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

  /** Waits until each says that it and its partner are in state normal. */
  async function normal(): Promise<void> {
    for (const dhcpd of pair)
      await waitUntil(() => ["I move from", "peer moves from"].map((words) => newestState(dhcpd, words)), {
        describe: "both racks say that both are in state normal",
        deadlineMs: 90_000,
        until: (states) => states.every((state) => state === "normal"),
      });
  }

  function newestState(dhcpd: Running, words: string): string | null {
    const line = dhcpd.lines.findLast((candidate) => candidate.includes(words));
    return line === undefined ? null : (/ to (\S+)$/.exec(line)?.[1] ?? null);
  }

  async function interrupted(dhcpd: Running): Promise<void> {
    await dhcpd.waitForLine(/I move from normal to communications-interrupted/, { deadlineMs: 90_000 });
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

  /** Asks whoever hears it, as a machine does whose own rack does not answer. */
  async function expectRenewals(exchanges: readonly Exchange[]): Promise<void> {
    for (const { stranger, address } of exchanges) {
      const answering: Stranger = { ...stranger, answers: "arp" }; // dhcpd asks for the address before it answers to it
      expect((await clients.renew(answering, address ?? "", PERSISTENT)).address).toBe(address);
    }
  }

  /** A lease is told to the partner after it was given: one that was not when a rack dies is the partner's to give only after mclt. */
  async function known(rack: Host, exchanges: readonly Exchange[]): Promise<void> {
    await waitUntil(() => readFileSync(rack.path("dhcpd-eth0.leases"), "latin1"), {
      describe: `${rack.name} knows the leases of its partner`,
      until: (text) => exchanges.every(({ address }) => isActive(text, address ?? "")),
    });
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
    await known(racks[1], before);
    await pair[0].stop({ signal: "SIGKILL" });
    await interrupted(pair[1]);
    await expectRenewals(before);
    const after = served(await join(100, POOL));
    expect(after.length).toBeGreaterThan(2);
    expect(new Set(after.map(({ reply }) => reply?.serverId))).toEqual(new Set(["192.168.50.2"]));
    expectNobodySharesAnAddress();
  });

  it("goes on with one rack frozen, and with both once it thaws", async () => {
    const before = served(await join(0, 6));
    pair[1].kill("SIGSTOP");
    await interrupted(pair[0]);
    const meanwhile = served(await join(100, 5));
    expect(meanwhile.length).toBeGreaterThan(2);
    expect(new Set(meanwhile.map(({ reply }) => reply?.serverId))).toEqual(new Set(["192.168.50.1"]));
    pair[1].kill("SIGCONT");
    await normal();
    await expectRenewals([...before, ...meanwhile]);
    await join(200, POOL);
    expectNobodySharesAnAddress();
  });

  it("gives no address twice while the racks are cut off from each other and the machines reach both", async () => {
    const before = served(await join(0, 4));
    await racks[0].ip("route", "add", "unreachable", "192.168.50.2/32");
    await racks[1].ip("route", "add", "unreachable", "192.168.50.1/32");
    for (const dhcpd of pair) await interrupted(dhcpd);
    const apart = served(await join(100, POOL));
    expect(apart.length).toBeGreaterThan(2);
    expectNobodySharesAnAddress();
    await racks[0].ip("route", "del", "unreachable", "192.168.50.2/32");
    await racks[1].ip("route", "del", "unreachable", "192.168.50.1/32");
    await normal();
    await expectRenewals([...before, ...apart]);
    await join(200, POOL);
    expectNobodySharesAnAddress();
  });
});

/** As the newest block of the address says. */
function isActive(leases: string, address: string): boolean {
  const block = leases.slice(leases.lastIndexOf(`lease ${address} {`));
  return block.startsWith("lease ") && /^ {2}binding state active;$/m.test(block.slice(0, block.indexOf("\n}")));
}
