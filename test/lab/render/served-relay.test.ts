import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { goldenCase } from "../../golden-cases.js";
import type { Host } from "../host.js";
import { createLab, type Lab } from "../lab.js";
import { strangerMac, type RawDhcpClient } from "../raw-dhcp-client.js";
import { requireTools } from "../require-tools.js";
import { ASKED_ONCE, PATIENT, serveGolden } from "./rendered-rack.js";

/**
 * A rack with a link of its own (eth0) and one to a router (mgmt0), which relays two far networks: 10.70.0.0/24 to the rack's address on the link,
 * 10.71.0.0/24 to the one on mgmt0.
 */
describe("networks behind a relay", () => {
  let lab: Lab;
  let rack: Host;
  let router: Host;
  let near: RawDhcpClient;
  const far: RawDhcpClient[] = [];

  beforeEach(async () => {
    requireTools(["ip", "dhcpd", "dhcrelay", "gcc"]);
    lab = await createLab({ name: "served-relay.test" });
    const links = [];
    for (const name of ["rack", "mgmt", "far70", "far71"]) links.push(await lab.addLink(name));
    const [rackLink, mgmt, ...farLinks] = links;
    if (rackLink === undefined || mgmt === undefined) throw new Error("the lab lacks links");
    rack = await lab.addRack("rack", { backbone: null });
    await rack.connect(rackLink, { addresses: ["192.168.50.1/24"] });
    await rack.connect(mgmt, { interfaceName: "mgmt0", addresses: ["10.240.1.10/24"] });
    await rack.ip("route", "add", "10.64.0.0/10", "via", "10.240.1.1");
    router = await lab.addHost("router");
    await router.connect(mgmt, { addresses: ["10.240.1.1/24"] });
    await router.ip("route", "add", "192.168.50.0/24", "via", "10.240.1.10");
    await router.runOrThrow(["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]);
    for (const [place, link] of farLinks.entries()) {
      await router.connect(link, { interfaceName: `far${70 + place}`, addresses: [`10.${70 + place}.0.254/24`] });
      const crowd = await lab.addHost(`crowd${70 + place}`);
      await crowd.connect(link);
      far[place] = await crowd.rawDhcp();
    }
    const neighbours = await lab.addHost("neighbours");
    await neighbours.connect(mgmt);
    near = await neighbours.rawDhcp();
    await serveGolden(rack, goldenCase("relayed"), ["eth0", "mgmt0"]);
    await relay("far70", "192.168.50.1");
    await relay("far71", "10.240.1.10");
  });
  afterEach(() => lab.close());

  /** One relay a network, as two switches would be. */
  async function relay(interfaceName: string, server: string): Promise<void> {
    const argv = ["dhcrelay", "-4", "-d", "--no-pid", "-id", interfaceName, "-iu", "eth0", server] as const;
    const running = await router.spawn(argv, { logFile: router.path(`${interfaceName}.log`) });
    await running.waitForLine("Sending on");
  }

  it("are served as their own, and renewed straight with the rack", async () => {
    const [client] = far;
    if (client === undefined) throw new Error("no far client");
    const got = await client.dora({ mac: strangerMac(1) }, PATIENT);
    expect(got.reply).toMatchObject({
      type: "ACK",
      serverId: "192.168.50.1",
      routers: ["10.70.0.254"],
      mask: "255.255.255.0",
      domainName: "far.example.test",
    });
    expect(got.address).toMatch(/^10\.70\.0\.10\d$/);
    const known = await client.dora({ mac: "02:00:5e:00:00:02" }, PATIENT);
    expect(known.reply).toMatchObject({ address: "10.70.0.9", hostName: "far1" });
    // Over the router, whose hardware address every frame from the relay has.
    const server = { serverId: "192.168.50.1", serverMac: router.port("far70").mac };
    expect((await client.renew({ mac: strangerMac(1) }, got.address ?? "", { ...PATIENT, server })).address).toBe(got.address);
    expect((await client.reboot({ mac: strangerMac(1) }, "10.9.9.9", PATIENT)).reply?.type).toBe("NAK");
  });

  it("may arrive where the rack serves nothing, and nobody there is answered", async () => {
    const [, client] = far;
    const known = await client?.dora({ mac: "02:00:5e:00:00:03" }, PATIENT);
    expect(known?.reply).toMatchObject({ address: "10.71.0.9", serverId: "10.240.1.10", routers: ["10.71.0.254"] });
    expect(await client?.discover({ mac: strangerMac(5) }, ASKED_ONCE)).toBeNull();
    expect(await near.discover({ mac: "02:00:5e:00:00:03" }, ASKED_ONCE)).toBeNull();
    expect((await near.reboot({ mac: strangerMac(6) }, "10.240.1.77", ASKED_ONCE)).reply).toBeNull();
  });
});
