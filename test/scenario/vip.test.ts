import { readdirSync, readFileSync } from "node:fs";
import type { CurrentProblem, NetworkView, RackApiView, VipMoveView, VipView } from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import { startKeepalived } from "../lab/lab-daemons.js";
import { createLab, type Lab } from "../lab/lab.js";
import type { Link } from "../lab/link.js";
import { requireTools } from "../lab/require-tools.js";
import type { Running } from "../lab/running.js";
import { allKindsConfig, KEEPALIVED_VIPS, killKeepalived } from "../lab/vip/keepalived.js";
import { waitUntil } from "../lab/wait-until.js";

const VIPS: readonly string[] = Object.values(KEEPALIVED_VIPS);
const { masked, ipv6Masked } = KEEPALIVED_VIPS;
const PREFIX = "192.168.50.0/24";
/** A coordinator that listens on all addresses must not send agents to this one. It is lower than its own, as if it stood first. */
const REGION_VIP = "10.240.1.9/32";
const OWN = { rack1: "192.168.50.11", rack2: "192.168.50.12" } as const;
const LATE_VIP = "192.168.50.45";
/** Holds the VIPs' own addresses: nobody may get them from it. */
const WINDOW = "192.168.50.40-192.168.50.60";

/**
 * The report of 2018, end to end: machines were pointed at an address that keepalived took elsewhere. Two racks with real keepalived, agents, dhcpd
 * and named, and a real coordinator.
 */
describe("two racks with virtual addresses", () => {
  let lab: Lab;
  let link: Link;
  let region: Region;
  let racks: readonly [Rack, Rack];
  let keepalived: readonly [Running, Running];
  /** What the racks' daemons run, once the VIPs are there, and the generations once each VIP is known for one. */
  let running: readonly string[];
  let generations: readonly (number | null)[] | null = null;

  beforeAll(async () => {
    requireTools(["ip", "keepalived", "dhcpd", "named", "dhclient"]);
    lab = await createLab({ name: "scenario-vip" });
    link = await lab.addLink("shared");
    const regionHost = await lab.addRegion("region");
    await regionHost.ip("address", "add", REGION_VIP, "dev", "mgmt0");
    region = new Region(regionHost, "0.0.0.0");
    await region.start();
    racks = [await addRack(1), await addRack(2)];
    const window = ["--mode", "window", "--window", WINDOW];
    await region.berthJson("subnet", "create", PREFIX, "--domain", "rack.example", ...window);
    for (const rack of racks) await rack.waitUntilServing();
  });
  afterAll(() => lab.close());

  async function addRack(n: 1 | 2): Promise<Rack> {
    const host = await lab.addRack(`rack${n}`);
    await host.connect(link, { addresses: [`192.168.50.1${n}/24`, `2001:db8:50::1${n}/64`] });
    const rack = new Rack(host);
    await rack.join(region);
    await rack.start();
    return rack;
  }

  const list = async <T>(...args: string[]): Promise<readonly T[]> => (await region.berthJson<{ items: T[] }>(...args)).items;

  /** Which racks the region says have each VIP: `rack1` or `rack1+rack2`, one entry for all that agree. */
  async function holders(): Promise<string> {
    const vips = (await list<VipView>("vip", "list")).filter(({ address }) => VIPS.includes(address));
    const held = vips.map(({ holders: racksOfVip }) => racksOfVip.map(({ rack }) => rack).join("+"));
    return vips.length === VIPS.length ? [...new Set(held)].join(" or ") : `${vips.length} of them`;
  }

  async function expectEveryoneServedAsBefore(): Promise<void> {
    const found = await list<RackApiView>("rack", "list");
    expect(runningOf(found)).toEqual(running);
    if (generations !== null) expect(found.map(({ desiredGeneration }) => desiredGeneration)).toEqual(generations);
    for (const rack of racks) expectNoVipIsServer(rack);
  }

  const convergedRacks = (describe: string): Promise<readonly RackApiView[]> =>
    waitUntil(() => list<RackApiView>("rack", "list"), {
      describe,
      deadlineMs: 30_000,
      until: (found) => found.every(({ connected, converged }) => connected && converged),
    });

  const runningOf = (found: readonly RackApiView[]): readonly string[] =>
    found.flatMap(({ daemons, name }) => daemons.map((daemon) => `${name} ${daemon.name} ${daemon.running ?? "nothing"}`));

  function expectNoVipIsServer(rack: Rack): void {
    const conf = readFileSync(rack.path("dhcpd/dhcpd.conf"), "utf8");
    const servers = conf.split("\n").filter((line) => /name-servers|ntp-servers|server-identifier/.test(line));
    expect(servers.join("\n")).toContain(OWN.rack1);
    expect(servers.filter((line) => VIPS.some((vip) => line.includes(vip)))).toEqual([]);
    expect(conf).not.toMatch(/range [^;]*192\.168\.50\.5[0-3][ ;]/);
    const zones = readdirSync(rack.path("named/zones")).map((name) => readFileSync(rack.path("named/zones", name), "utf8"));
    const named = zones
      .join("\n")
      .split("\n")
      .filter((line) => /^rack-rack[12] (A|AAAA) /.test(line));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((line) => VIPS.some((vip) => line.trim().endsWith(` ${vip}`)))).toEqual([]);
  }

  it("tells agents to dial the region's own address, though it listens on its VIP too", async () => {
    const { joinLine } = await region.berthJson<{ joinLine: string }>("token", "create");
    expect(joinLine.split(" ").at(2)).toBe(region.linkAddress.replace("0.0.0.0", "10.240.1.10"));
  });

  it("finds every virtual address that a single look can tell, and says why", async () => {
    const first = await startKeepalived(racks[0].host, allKindsConfig(100));
    await waitUntil(() => region.berthJson<RackApiView>("rack", "show", "rack1"), {
      describe: "rack1 has all VIPs before rack2 stands for them",
      deadlineMs: 30_000,
      until: ({ addresses }) => VIPS.every((vip) => addresses.some(({ address }) => address === vip)),
    });
    keepalived = [first, await startKeepalived(racks[1].host, allKindsConfig(90))];
    const telling = VIPS.filter((address) => address !== masked && address !== ipv6Masked);
    const vips = await waitUntil(() => list<VipView>("vip", "list"), {
      describe: "the VIPs are in the region's list, on rack1",
      deadlineMs: 30_000,
      until: (found) =>
        found.length === telling.length &&
        found.every(({ holders: [first, ...more] }) => first?.rack === "rack1" && more.length === 0),
    });
    expect(vips.map(({ address }) => address).sort()).toEqual([...telling].sort());
    for (const vip of vips) expect(vip.reasons.length, vip.address).toBeGreaterThan(0);
    const rack = await region.berthJson<RackApiView>("rack", "show", "rack1");
    const own = rack.addresses.find(({ address }) => address === OWN.rack1);
    expect(own).toMatchObject({ class: "real", published: true });
    expect(rack.addresses.find(({ address }) => address === KEEPALIVED_VIPS.plain)).toMatchObject({
      class: "vip",
      published: false,
    });
    for (const served of racks) await served.waitUntilServing();
    const converged = await convergedRacks("the racks run plans that know of the VIPs");
    running = runningOf(converged);
    await expectEveryoneServedAsBefore();
  });

  it("proposes the network that both are on, as one segment", async () => {
    const networks = await list<NetworkView>("network", "list");
    expect(networks.find(({ prefix }) => prefix === PREFIX)).toMatchObject({
      state: "declared",
      racks: [{ name: "rack1" }, { name: "rack2" }],
      segment: { name: "rack1/eth0", members: [{ rack: "rack1" }, { rack: "rack2" }] },
      discrepancies: [],
    });
    expect(networks.find(({ prefix }) => prefix === "2001:db8:50::/64")).toMatchObject({ state: "proposed", subnet: null });
  });

  it("a graceful move is in the history, and changes nothing that is served", async () => {
    await keepalived[0].stop();
    await waitUntil(holders, { describe: "all VIPs are on rack2", deadlineMs: 30_000, until: (text) => text === "rack2" });
    for (const address of VIPS) {
      const moves = await list<VipMoveView>("vip", "history", address);
      expect(
        moves.map(({ from, to }) => `${from} to ${to}`),
        address,
      ).toEqual(["rack1 to rack2"]);
    }
    await expectEveryoneServedAsBefore();
    expect((await region.berth("problem", "list")).stdout).not.toMatch(/vip-|duplicate-address|ambiguous/);
    // Those with the subnet's own mask gave themselves away only now, which the racks are told once. From here on no move is news.
    const found = await convergedRacks("the racks know of all VIPs");
    generations = found.map(({ desiredGeneration }) => desiredGeneration);
    expect(generations).not.toContain(null);
  });

  it("survives a sudden end of the region", async () => {
    const before = await list<VipMoveView>("vip", "history");
    await region.stop("SIGKILL");
    await region.start();
    expect(await list<VipMoveView>("vip", "history")).toEqual(before);
    expect(await holders()).toBe("rack2");
    await convergedRacks("both racks are back");
    expect(await holders()).toBe("rack2");
    await expectEveryoneServedAsBefore();
  });

  it("SIGKILL of keepalived leaves both with the VIPs: a split brain that is told and never served", async () => {
    keepalived = [await startKeepalived(racks[0].host, allKindsConfig(100)), keepalived[1]];
    await waitUntil(holders, { describe: "rack1 took the VIPs back", deadlineMs: 30_000, until: (text) => text === "rack1" });
    expect(killKeepalived(racks[0].host)).toBeGreaterThan(1);
    await waitUntil(holders, { describe: "both have them", deadlineMs: 30_000, until: (text) => text === "rack1+rack2" });
    const told = await waitUntil(() => region.berth("problem", "list", "-o", "json"), {
      describe: "a split brain for every VIP",
      deadlineMs: 40_000,
      until: ({ stdout }) => stdout.split('"vip-split-brain"').length - 1 === VIPS.length,
    });
    expect(told.status).toBe(1);
    const { items } = JSON.parse(told.stdout) as { items: CurrentProblem[] };
    const split = items.filter(({ code }) => code === "vip-split-brain");
    expect(split.map(({ at }) => at.split(" ").at(-1)).sort()).toEqual([...VIPS].sort());
    for (const { message, since, source } of split) {
      expect(source).toBe("topology");
      expect(message).toMatch(/rack1 and rack2/);
      expect(Date.parse(since)).toBeGreaterThan(0);
    }
    await expectEveryoneServedAsBefore();
  });

  it("a machine that boots in the middle of it is served from a rack's own address, and pointed at real ones", async () => {
    const machine = await lab.addMachine("m1", link);
    const lease = await (await machine.dhclient()).waitForAddress();
    expect(Object.values(OWN)).toContain(lease.serverId);
    expect(VIPS).not.toContain(lease.address);
    const { values } = await machine.query("rack-rack1.rack.example", "A", OWN.rack2);
    expect(values).toContain(OWN.rack1);
    expect(values.filter((address) => VIPS.includes(address))).toEqual([]);
  });

  it("the move of a VIP that shows itself as one changes no desired state at all, not even once", async () => {
    const [one, two] = [racks[0].host, racks[1].host];
    const holder = async (): Promise<string> => {
      const found = (await list<VipView>("vip", "list")).find(({ address }) => address === LATE_VIP);
      return found?.holders.map(({ rack }) => rack).join("+") ?? "unknown";
    };
    await one.ip("address", "add", `${LATE_VIP}/32`, "dev", "eth0");
    await waitUntil(holder, { describe: "it is on rack1", until: (text) => text === "rack1" });
    const before = await convergedRacks("no pool holds it");
    expect(
      readFileSync(racks[1].path("dhcpd/dhcpd.conf"), "utf8") + readFileSync(racks[0].path("dhcpd/dhcpd.conf"), "utf8"),
    ).not.toMatch(new RegExp(`range ([^;]* )?${LATE_VIP.replaceAll(".", "\\.")}[ ;]`));
    await one.ip("address", "del", `${LATE_VIP}/32`, "dev", "eth0");
    await two.ip("address", "add", `${LATE_VIP}/32`, "dev", "eth0");
    await waitUntil(holder, { describe: "it is on rack2", until: (text) => text === "rack2" });
    const after = await convergedRacks("the racks run");
    expect(after.map(({ desiredGeneration }) => desiredGeneration)).toEqual(
      before.map(({ desiredGeneration }) => desiredGeneration),
    );
  });
});
