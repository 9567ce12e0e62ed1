import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import type { Host } from "../lab/host.js";
import { createLab, type Lab } from "../lab/lab.js";
import { strangerMac, type RawDhcpClient, type Stranger } from "../lab/raw-dhcp-client.js";
import { requireTools } from "../lab/require-tools.js";
import { AckBook } from "../lab/storms/ack-book.js";
import { blowStorm } from "../lab/storms/storm.js";

const STRANGERS = 5_000;
const STATICS = 8;
/** The rack's neighbour table says that whoever this is has every address: no ping of dhcpd reaches a holder. */
const STALE_MAC = "02:de:ad:00:00:01";

interface Network {
  readonly name: string;
  readonly prefix: string;
  readonly interfaceName: string;
  readonly options: readonly string[];
  /** What a stranger's address begins with. */
  readonly pool: string;
}

const NETWORKS: readonly Network[] = [
  {
    name: "window",
    prefix: "192.168.50",
    interfaceName: "eth0",
    options: ["--mode", "window", "--window", "192.168.50.100-192.168.50.140"],
    pool: "192.168.50.1",
  },
  {
    name: "link-local",
    prefix: "192.168.60",
    interfaceName: "eth1",
    options: ["--mode", "link-local", "--slice-length", "26", "--enlist-lease", "120s"],
    pool: "169.254.",
  },
];

describe("a storm of more strangers than addresses", () => {
  let lab: Lab;
  let region: Region;
  let rack: Rack;
  let rackHost: Host;
  const wires = new Map<string, RawDhcpClient>();
  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named", "gcc"]);
    lab = await createLab({ name: "storm" });
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    rackHost = await lab.addRack("rack1");
    for (const { name, prefix } of NETWORKS) {
      const link = await lab.addLink(name);
      await rackHost.connect(link, { addresses: [`${prefix}.1/24`] });
      wires.set(name, await (await lab.addMachine(`${name}-crowd`, link)).rawDhcp());
    }
    rack = new Rack(rackHost);
    await region.start();
    await rack.join(region);
    await rack.start();
    for (const { name, options, prefix } of NETWORKS) {
      const domain = `${name}.example`;
      await region.berthJson("subnet", "create", `${prefix}.0/24`, "--domain", domain, "--gateway", `${prefix}.254`, ...options);
    }
  });
  afterAll(async () => {
    await Promise.all([...wires.values()].map((wire) => wire.close()));
    await lab.close();
  });

  /** Machines with static addresses, on and deaf to ping, and one reserved block in the window's middle where somebody sits. */
  async function settle(network: Network, wire: RawDhcpClient, book: AckBook): Promise<Map<string, Stranger>> {
    const { name, prefix } = network;
    const machines = new Map<string, Stranger>();
    for (let n = 0; n < STATICS; n++) {
      const machine: Stranger = { mac: macOf(network, n), answers: "arp" };
      const { allocation } = await region.berthJson<{ allocation: { address: string } }>(
        ...["machine", "enroll", machine.mac, "--subnet", `${prefix}.0/24`],
      );
      machines.set(allocation.address, machine);
      book.keep(allocation.address, machine.mac);
      wire.squat(machine, allocation.address);
    }
    if (name === "window") {
      await region.berthJson("reservation", "create", `${prefix}.120`, `${prefix}.123`, "--note", "old appliance");
      for (const last of [120, 121, 122, 123]) book.keep(`${prefix}.${last}`, "nobody");
    }
    return machines;
  }

  it("gives no address to two, and every machine its own, in both modes at once", async () => {
    await Promise.all(NETWORKS.map((network) => weather(network)));
  });

  async function weather(network: Network): Promise<void> {
    const wire = wires.get(network.name);
    if (wire === undefined) throw new Error("no wire");
    const book = new AckBook();
    const machines = await settle(network, wire, book);
    await rack.waitUntilServing();
    for (let last = 2; last < 140; last++) {
      const address = `${network.prefix}.${last}`;
      await rackHost.ip("neigh", "replace", address, "lladdr", STALE_MAC, "dev", network.interfaceName, "nud", "permanent");
    }
    const from = network.name === "window" ? 100_000 : 200_000;
    const boots = [...machines.values()].map((machine) => wire.dora(machine, { waitMs: 4_000 }));
    await blowStorm(wire, book, { strangers: STRANGERS / 2, from });
    for (const boot of boots) book.note(await boot, Date.now());
    await blowStorm(wire, book, { strangers: STRANGERS / 2, from: from + STRANGERS / 2 });
    for (const [address, machine] of machines) expect((await wire.dora(machine, { waitMs: 4_000 })).address).toBe(address);
    expect(book.clashes).toEqual([]);
    expect([...book.dynamic].filter((address) => !address.startsWith(network.pool))).toEqual([]);
    expect(book.acks).toBeGreaterThan(40);
  }

  function macOf({ name }: Network, n: number): string {
    return strangerMac((name === "window" ? 1_000 : 2_000) + n);
  }
});
