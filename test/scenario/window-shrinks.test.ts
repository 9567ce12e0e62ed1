import { readFileSync } from "node:fs";
import { createLeaseReader } from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import { createLab, type Lab } from "../lab/lab.js";
import { strangerMac, type RawDhcpClient } from "../lab/raw-dhcp-client.js";
import { requireTools } from "../lab/require-tools.js";
import { waitUntil } from "../lab/wait-until.js";

describe("a window that gets smaller", () => {
  let lab: Lab;
  let region: Region;
  let rack: Rack;
  let wire: RawDhcpClient;
  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named", "gcc"]);
    lab = await createLab({ name: "window-shrinks" });
    const link = await lab.addLink("rack1");
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    const host = await lab.addRack("rack1");
    await host.connect(link, { addresses: ["192.168.50.1/24"] });
    rack = new Rack(host);
    wire = await (await lab.addMachine("crowd", link)).rawDhcp();
    await region.start();
    await rack.join(region);
    await rack.start();
    const window = ["--mode", "window", "--window", "192.168.50.100-192.168.50.109"];
    await region.berthJson("subnet", "create", "192.168.50.0/24", "--domain", "rack1.example", ...window);
    await rack.waitUntilServing();
  });
  afterAll(async () => {
    await wire.close();
    await lab.close();
  });

  const hasLease = (address: string): boolean => {
    const reader = createLeaseReader();
    reader.push(readFileSync(rack.path("dhcpd", "dhcpd.leases")));
    return reader.table.get(address) !== null;
  };
  const enroll = (mac: string, address: string): ReturnType<Region["berth"]> =>
    region.berth("machine", "enroll", mac, "--address", address, "-o", "json");

  it("leaves a holder his address, though dhcpd forgets the lease", async () => {
    const holder = { mac: strangerMac(1), answers: "arp" as const };
    const { address } = await wire.dora(holder, { waitMs: 3_000 });
    if (address === null) throw new Error("no address");
    await waitUntil(() => region.berth("lease", "list", "--mac", holder.mac, "-o", "json"), {
      describe: "the region knows of the lease",
      until: ({ stdout }) => stdout.includes(address),
    });
    // The window keeps the other half, of which the holder has nothing.
    const inLowHalf = Number(address.split(".")[3]) < 105;
    const half = inLowHalf ? "192.168.50.105-192.168.50.109" : "192.168.50.100-192.168.50.104";
    await region.berthJson("subnet", "set", "192.168.50.0/24", "--window", half);
    await rack.waitUntilServing();
    await waitUntil(() => hasLease(address), { describe: "dhcpd has dropped the lease", until: (there) => !there });

    const other = await enroll(strangerMac(2), address);
    expect(other).toMatchObject({ status: 1 });
    expect(other.stderr).toContain("address-resting");
    expect((await enroll(holder.mac, address)).status).toBe(0);
    await rack.waitUntilServing();
    expect((await wire.dora(holder, { waitMs: 3_000 })).address).toBe(address);
  });
});
