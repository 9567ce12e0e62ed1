import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Host } from "../host.js";
import { startDhcpd, startKeepalived } from "../lab-daemons.js";
import { createLab, type Lab } from "../lab.js";
import type { Link } from "../link.js";
import { requireTools } from "../require-tools.js";
import type { Running } from "../running.js";
import { waitUntil } from "../wait-until.js";
import { allKindsConfig, KEEPALIVED_VIPS, killKeepalived } from "./keepalived.js";
import { VipRegion } from "./vip-region.js";

const NETWORK = "192.168.50.0/24";
const LIST = "dns 192.168.50.11 192.168.50.12 ntp 192.168.50.11 192.168.50.12";
const IDENTIFIERS = ["rack1 192.168.50.11", "rack2 192.168.50.12"];
const VIPS = Object.values(KEEPALIVED_VIPS);

beforeAll(() => requireTools(["ip", "keepalived", "dhcpd", "dhclient", "gcc"]));

/** Two racks on one link, each with its own addresses, and what a region makes of them. */
class Scene {
  readonly lab: Lab;
  readonly link: Link;
  readonly racks: readonly [Host, Host];
  readonly region: VipRegion;

  private constructor(lab: Lab, link: Link, racks: readonly [Host, Host]) {
    this.lab = lab;
    this.link = link;
    this.racks = racks;
    this.region = new VipRegion(racks, NETWORK);
  }

  static async open(name: string): Promise<Scene> {
    const lab = await createLab({ name });
    const link = await lab.addLink("shared");
    const add = async (n: 1 | 2): Promise<Host> => {
      const rack = await lab.addRack(`rack${n}`, { backbone: null });
      await rack.connect(link, { addresses: [`192.168.50.1${n}/24`, `2001:db8:50::1${n}/64`] });
      return rack;
    };
    const scene = new Scene(lab, link, [await add(1), await add(2)]);
    await waitUntil(() => scene.region.complete, { describe: "both racks have reported" });
    return scene;
  }

  async close(): Promise<void> {
    await this.region.close();
    await this.lab.close();
  }

  /** Which of the two holds all of these, or null. */
  holder(...addresses: readonly string[]): string | null {
    const held = this.racks.filter(({ name }) => addresses.every((address) => address in this.region.classes(name)));
    const none = this.racks.filter(({ name }) => addresses.every((address) => !(address in this.region.classes(name))));
    return held.length === 1 && none.length === 1 ? (held[0]?.name ?? null) : null;
  }

  waitForHolder(rack: string, ...addresses: readonly string[]): Promise<unknown> {
    return waitUntil(() => this.holder(...addresses), {
      describe: `${rack} alone holds ${addresses.join(", ")}`,
      deadlineMs: 30_000,
      until: (holder) => holder === rack,
    });
  }
}

describe("keepalived in two racks", () => {
  let scene: Scene;
  let keepalived: readonly [Running, Running];

  beforeAll(async () => {
    scene = await Scene.open("vip-keepalived");
    const [one, two] = scene.racks;
    // The second starts when the first has them: on a busy machine it might else be first for a moment, and that would be a move.
    const first = await startKeepalived(one, allKindsConfig(100));
    await scene.waitForHolder("rack1", ...VIPS);
    keepalived = [first, await startKeepalived(two, allKindsConfig(90))];
  });
  afterAll(() => scene.close());

  it("on one rack alone, all but those with the subnet's own mask are known for virtual", () => {
    const { plain, masked, labelled, ownMac, ipv6, ipv6Masked } = KEEPALIVED_VIPS;
    expect(scene.region.classes("rack1")).toEqual({
      "192.168.50.11": "real",
      "2001:db8:50::11": "real",
      ...{ [plain]: "vip", [labelled]: "vip", [ownMac]: "vip", [ipv6]: "vip" },
      ...{ [masked]: "real", [ipv6Masked]: "real" },
    });
  });

  it("all are known for virtual once they moved, each move is told, and nothing else ever was handed out", async () => {
    await keepalived[0].stop();
    await scene.waitForHolder("rack2", ...VIPS);
    expect(scene.region.classes("rack2")).toEqual({
      "192.168.50.12": "real",
      "2001:db8:50::12": "real",
      ...Object.fromEntries(VIPS.map((address) => [address, "vip"])),
    });
    for (const address of VIPS) expect(scene.region.moves(address)).toEqual(["rack1 -> rack2"]);
    expect([...scene.region.lists]).toEqual([LIST]);
    expect([...scene.region.identifiers].sort()).toEqual(IDENTIFIERS);
    expect(scene.region.problems()).toEqual([]);
  });

  it("both hold them after SIGKILL: a split brain, never handed out", async () => {
    const moved = scene.region.events.length;
    keepalived = [await startKeepalived(scene.racks[0], allKindsConfig(100)), keepalived[1]];
    await scene.waitForHolder("rack1", ...VIPS);
    expect(killKeepalived(scene.racks[0])).toBeGreaterThan(1);
    const split = await waitUntil(() => scene.region.problems(), {
      describe: "a split brain for every VIP",
      deadlineMs: 40_000,
      until: (problems) => problems.filter((problem) => problem.startsWith("vip-split-brain")).length === VIPS.length,
    });
    expect(split.map((problem) => problem.split(" ").at(-1)).sort()).toEqual([...VIPS].sort());
    for (const { name } of scene.racks)
      expect(scene.region.classes(name)).toMatchObject(Object.fromEntries(VIPS.map((address) => [address, "vip"])));
    expect([...scene.region.lists]).toEqual([LIST]);
    expect([...scene.region.identifiers].sort()).toEqual(IDENTIFIERS);
    expect(scene.region.events.slice(moved).map((event) => (event.type === "vip-moved" ? event.to : event.type))).toEqual(
      VIPS.map(() => "rack1"),
    );
  });

  it("and it is over when the addresses of the dead one are taken away", async () => {
    const { plain, masked, labelled, ipv6, ipv6Masked } = KEEPALIVED_VIPS;
    const [one] = scene.racks;
    for (const cidr of [`${plain}/32`, `${masked}/24`, `${labelled}/32`, `${ipv6}/128`, `${ipv6Masked}/64`])
      await one.ip("address", "del", cidr, "dev", "eth0");
    await one.ip("link", "del", "vrrp.53");
    await scene.waitForHolder("rack2", ...VIPS);
    expect(scene.region.problems()).toEqual([]);
    for (const address of VIPS)
      expect(scene.region.moves(address)).toEqual(["rack1 -> rack2", "rack2 -> rack1", "rack1 -> rack2"]);
  });
});

describe("a cluster manager that adds /32 with the subnet's broadcast", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await Scene.open("vip-pacemaker");
  });
  afterAll(() => scene.close());

  /** What pacemaker's IPaddr2 runs. */
  async function give(rack: Host, address: string): Promise<void> {
    await rack.ip("address", "add", `${address}/32`, "brd", "192.168.50.255", "dev", "eth0");
  }

  it("is seen at once, with the marks that give it away", async () => {
    const [one, two] = scene.racks;
    await give(one, "192.168.50.28");
    await scene.waitForHolder("rack1", "192.168.50.28");
    const facts = scene.region.now().racks.get("rack1");
    const verdict = [...(facts?.settled.values() ?? [])].find(
      (entry) => entry.verdict.observed.address === "192.168.50.28",
    )?.verdict;
    expect(verdict).toMatchObject({
      class: "vip",
      confidence: 0.95,
      observed: { prefixLength: 32, broadcast: "192.168.50.255" },
    });
    await one.ip("address", "del", "192.168.50.28/32", "dev", "eth0");
    await give(two, "192.168.50.28");
    await scene.waitForHolder("rack2", "192.168.50.28");
    expect(scene.region.moves("192.168.50.28")).toEqual(["rack1 -> rack2"]);
    expect([...scene.region.lists]).toEqual([LIST]);
  });
});

describe("dhcpd beside a VIP that the NIC lists first", () => {
  let lab: Lab;
  let region: VipRegion | null = null;
  beforeAll(async () => {
    lab = await createLab({ name: "vip-dhcpd" });
  });
  afterAll(async () => {
    await region?.close();
    await lab.close();
  });

  it("names the rack's own address as server identifier", async () => {
    const link = await lab.addLink("rack");
    const rack = await lab.addRack("rack1", { backbone: null });
    await rack.connect(link, {});
    // A cluster manager that was quicker than the host's own network configuration.
    await rack.ip("address", "add", "192.168.50.9/32", "dev", "eth0");
    await rack.ip("address", "add", "192.168.50.11/24", "brd", "+", "dev", "eth0");
    const known = new VipRegion([rack], NETWORK);
    region = known;
    const identifier = await waitUntil(() => known.identifier("rack1"), { describe: "the rack's own address on the network" });
    expect(await rack.address()).toBe("192.168.50.9");
    expect(identifier).toBe("192.168.50.11");
    await startDhcpd(
      rack,
      `authoritative; default-lease-time 600; option dhcp-server-identifier ${identifier ?? ""};
subnet 192.168.50.0 netmask 255.255.255.0 { range 192.168.50.100 192.168.50.110; }
`,
    );
    const machine = await lab.addMachine("m1", link);
    expect(await (await machine.dhclient()).waitForAddress()).toMatchObject({ serverId: "192.168.50.11" });
  });
});
