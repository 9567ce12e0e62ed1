import { compileDhcpd, ipAddress, renderDhcpd, type DesiredSubnet } from "@berth/core";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { goldenCase, type GoldenCase } from "../../golden-cases.js";
import type { Host } from "../host.js";
import { startDhcpd } from "../lab-daemons.js";
import { createLab, type Lab } from "../lab.js";
import { strangerMac, type RawDhcpClient, type Stranger } from "../raw-dhcp-client.js";
import { requireTools } from "../require-tools.js";
import type { Running } from "../running.js";

beforeAll(() => requireTools(["ip", "dhcpd", "gcc"]));

/** dhcpd pings a never-used address for a second before it offers it. */
const PATIENT = { waitMs: 4_000, attempts: 3 };
const ASKED_ONCE = { waitMs: 1_500, attempts: 1 };

describe("a real dhcpd on golden files", () => {
  let lab: Lab;
  let rack: Host;
  let clients: RawDhcpClient;
  let dhcpd: Running;

  beforeEach(async () => {
    lab = await createLab({ name: "served-dhcp.test" });
    const link = await lab.addLink("rack");
    rack = await lab.addRack("rack", { backbone: null });
    await rack.connect(link);
    const crowd = await lab.addHost("crowd");
    await crowd.connect(link);
    clients = await crowd.rawDhcp();
  });
  afterEach(() => lab.close());

  async function serve(golden: GoldenCase, addresses: readonly string[]): Promise<void> {
    for (const address of addresses) await rack.ip("address", "add", address, "dev", "eth0");
    const config = compileDhcpd(golden.desired, golden.links);
    if (!config.ok) throw new Error(JSON.stringify(config.problems));
    dhcpd = await startDhcpd(rack, renderDhcpd(config.value));
  }

  it("gives strangers the window without its holes, known machines their address, and nobody another's", async () => {
    // The VIP comes first on the interface: dhcpd would take it for its identifier.
    await serve(goldenCase("window-with-holes"), ["192.168.50.28/32", "192.168.50.1/24"]);
    const strangers: Stranger[] = Array.from({ length: 30 }, (_, n) => ({
      mac: strangerMac(n),
      clientId: "ff00000001",
      hostname: "ubuntu",
    }));
    const got = await clients.each(strangers, (stranger) => clients.dora(stranger, PATIENT));
    const held = got.flatMap(({ address }) => (address === null ? [] : [address]));
    const free = [101, 102, 104, 105, 106, 107, 108, 109, 112, 117, 118, 119, 120];
    expect(held.sort()).toEqual(free.map((last) => `192.168.50.${last}`));

    const db1: Stranger = { mac: "02:00:5e:00:00:02" };
    const known = await clients.dora(db1, PATIENT);
    expect(known.reply).toMatchObject({
      type: "ACK",
      address: "192.168.50.115",
      serverId: "192.168.50.1",
      hostName: "db1",
      domainName: "rack.example.test",
      routers: ["192.168.50.254"],
      nameServers: ["192.168.50.1"],
      ntpServers: ["192.168.50.1"],
      leaseSeconds: 600,
    });
    const elsewhere = await clients.reboot(db1, "192.168.50.100", PATIENT);
    expect(elsewhere.reply).toMatchObject({ type: "NAK", serverId: "192.168.50.1" });
    expect((await clients.renew(db1, "192.168.50.115", PATIENT)).address).toBe("192.168.50.115");
  });

  it("refuses addresses of other networks, because it owns the wire", async () => {
    await serve(goldenCase("window-with-holes"), ["192.168.50.1/24"]);
    const moved = await clients.reboot({ mac: strangerMac(1) }, "10.9.9.9", PATIENT);
    expect(moved.reply).toMatchObject({ type: "NAK", serverId: "192.168.50.1" });
  });

  it("is silent about the addresses of a network that another server has on the wire", async () => {
    await serve(goldenCase("foreign-subnet-on-the-link"), ["192.168.50.1/24", "192.168.51.1/29"]);
    expect((await clients.reboot({ mac: strangerMac(1) }, "192.168.51.3", ASKED_ONCE)).reply).toBeNull();
    expect((await clients.dora({ mac: strangerMac(2) }, PATIENT)).address).toMatch(/^192\.168\.50\.20[0-3]$/);
  });

  it("enlists over link-local, renews straight to the rack, and moves the machine to its address once it is known", async () => {
    const golden = goldenCase("link-local");
    await serve(golden, ["192.168.50.1/24", "169.254.160.1/20"]);
    const machine: Stranger = { mac: strangerMac(7) };
    const enlisted = await clients.dora(machine, PATIENT);
    expect(enlisted.reply).toMatchObject({
      serverId: "169.254.160.1",
      nameServers: ["169.254.160.1"],
      routers: [],
      leaseSeconds: 90,
      mask: "255.255.240.0",
    });
    const address = enlisted.address ?? "";
    expect(address).toMatch(/^169\.254\.(16[0-9]|17[0-5])\.\d+$/);
    const server = { serverId: "169.254.160.1", serverMac: enlisted.reply?.serverMac ?? null };
    if (enlisted.reply === null) throw new Error("no ACK");
    expect((await clients.renew(machine, address, { ...PATIENT, server: enlisted.reply })).address).toBe(address);
    expect(server.serverMac).not.toBeNull();

    await dhcpd.stop();
    const [subnet] = golden.desired.subnets;
    if (subnet === undefined) throw new Error("the case has no subnet");
    const known: DesiredSubnet = {
      ...subnet,
      hosts: [
        ...subnet.hosts,
        {
          hardwareAddress: machine.mac as DesiredSubnet["hosts"][number]["hardwareAddress"],
          address: ipAddress("192.168.50.77"),
          name: "m7.rack.example.test",
        },
      ],
    };
    await serve({ ...golden, desired: { ...golden.desired, subnets: [known] } }, []);
    const refused = await clients.renew(machine, address, { ...PATIENT, server: enlisted.reply });
    expect(refused.reply?.type).toBe("NAK");
    expect((await clients.dora(machine, PATIENT)).address).toBe("192.168.50.77");
  });

  it("gives both interfaces of a bond the address they share, and strangers in static mode nothing", async () => {
    await serve(goldenCase("bond-and-infiniband"), ["192.168.50.1/26"]);
    for (const mac of ["02:00:5e:00:00:01", "02:00:5e:00:00:02"])
      expect((await clients.dora({ mac }, PATIENT)).address).toBe("192.168.50.9");
    expect(await clients.discover({ mac: strangerMac(1) }, ASKED_ONCE)).toBeNull();
  });

  it("serves two subnets of one wire, each with its own identifier", async () => {
    await serve(goldenCase("two-subnets-one-link"), ["192.168.50.1/24", "192.168.51.1/27"]);
    const known = await clients.dora({ mac: "02:00:5e:00:00:01" }, PATIENT);
    expect(known.reply).toMatchObject({
      address: "192.168.51.9",
      serverId: "192.168.51.1",
      nameServers: ["192.168.51.1"],
      routers: [],
    });
    const stranger = await clients.dora({ mac: strangerMac(1) }, PATIENT);
    expect(stranger.reply).toMatchObject({ serverId: "192.168.50.1", routers: ["192.168.50.254"] });
  });
});
