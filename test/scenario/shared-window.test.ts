import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import { createLab, type Lab } from "../lab/lab.js";
import { strangerMac, type RawDhcpClient } from "../lab/raw-dhcp-client.js";
import { requireTools } from "../lab/require-tools.js";
import { waitUntil } from "../lab/wait-until.js";

const PATIENT = { waitMs: 4_000, attempts: 6 };

/** From `berth subnet set` to what a machine is given, with two real agents on one wire. */
describe("two racks of one network", { timeout: 240_000 }, () => {
  let lab: Lab;
  let region: Region;
  const racks: Rack[] = [];
  let clients: RawDhcpClient;

  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named", "gcc"]);
    lab = await createLab({ name: "shared-window.test" });
    const link = await lab.addLink("rack");
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    await region.start();
    for (const n of [1, 2]) {
      const host = await lab.addRack(`rack${n}`);
      await host.connect(link, { addresses: [`192.168.50.${n}/24`] });
      const rack = new Rack(host);
      racks.push(rack);
      await rack.join(region);
      await rack.start();
    }
    const crowd = await lab.addHost("crowd");
    await crowd.connect(link);
    clients = await crowd.rawDhcp();
    const window = ["--window", "192.168.50.100-192.168.50.119"];
    await region.berthJson("subnet", "create", "192.168.50.0/24", "--domain", "rack1.example", ...window);
    for (const rack of racks) await rack.waitUntilServing({ deadlineMs: 90_000 });
  }, 240_000);
  afterAll(() => lab.close());

  const confOf = (rack: Rack): string => readFileSync(rack.path("dhcpd", "dhcpd.conf"), "latin1");

  it("have a part each, until failover is wished: then both give from all of it and know each other's leases", async () => {
    expect(racks.map((rack) => /^ *range (.*);$/m.exec(confOf(rack))?.[1])).toEqual([
      "192.168.50.100 192.168.50.109",
      "192.168.50.110 192.168.50.119",
    ]);
    const before = await clients.dora({ mac: strangerMac(1) }, PATIENT);
    await region.berthJson("subnet", "set", "1", "--failover");
    for (const rack of racks) {
      await waitUntil(() => readFileSync(rack.path("dhcpd.log"), "latin1"), {
        describe: `${rack.host.name} says that both are normal`,
        deadlineMs: 120_000,
        until: (log) => log.includes("Both servers normal"),
      });
      expect(confOf(rack)).toContain("range 192.168.50.100 192.168.50.119;");
    }
    expect((await region.berth("problem", "list")).stdout).not.toContain("failover");
    const again = await clients.reboot({ mac: strangerMac(1) }, before.address ?? "", PATIENT);
    expect([again.reply?.type, again.address]).toEqual(["ACK", before.address]);
  });

  it("tell machines what the subnet's settings say, each with its own address", async () => {
    const boot = ["--boot", "ipxe=http://{rack}:8080/boot.ipxe", "--boot", "bios=undionly.kpxe"];
    await region.berthJson("subnet", "set", "1", "--mtu", "9000", ...boot);
    for (const rack of racks)
      await waitUntil(() => confOf(rack), {
        describe: "the file has it",
        deadlineMs: 60_000,
        until: (conf) => conf.includes("interface-mtu 9000"),
      });
    for (const rack of racks) await rack.waitUntilServing({ deadlineMs: 90_000 });
    const { reply } = await clients.dora(
      { mac: strangerMac(2), userClass: "iPXE", architecture: 0, wanted: [26] },
      { ...PATIENT, attempts: 15 },
    );
    expect(reply?.options.get(26)?.readUInt16BE(0)).toBe(9000);
    expect(reply?.bootFile).toBe(`http://${reply?.serverId}:8080/boot.ipxe`);
    expect(["192.168.50.1", "192.168.50.2"]).toContain(reply?.nextServer);
  });
});
