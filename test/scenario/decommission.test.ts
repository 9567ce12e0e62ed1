import { readFileSync, statSync } from "node:fs";
import { createLeaseReader } from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import { createLab, type Lab } from "../lab/lab.js";
import { strangerMac, type RawDhcpClient } from "../lab/raw-dhcp-client.js";
import { requireTools } from "../lab/require-tools.js";
import { waitUntil } from "../lab/wait-until.js";

const OMAPI_PORT = 7911;

describe("what a released machine still leases", () => {
  let lab: Lab;
  let region: Region;
  let rack: Rack;
  let wire: RawDhcpClient;
  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named", "arping", "gcc"]);
    lab = await createLab({ name: "decommission" });
    const link = await lab.addLink("rack1");
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    const host = await lab.addRack("rack1");
    await host.connect(link, { addresses: ["192.168.50.1/24"] });
    rack = new Rack(host, { dhcpd: { program: host.unconfined("dhcpd"), omapi: { port: OMAPI_PORT } } });
    wire = await (await lab.addMachine("crowd", link)).rawDhcp();
    await region.start();
    await rack.join(region);
    await rack.start();
    const window = ["--mode", "window", "--window", "192.168.50.100-192.168.50.101"];
    await region.berthJson(
      "subnet",
      "create",
      "192.168.50.0/24",
      "--domain",
      "rack1.example",
      "--gateway",
      "192.168.50.254",
      ...window,
    );
    await rack.waitUntilServing();
  });
  afterAll(async () => {
    await wire.close();
    await lab.close();
  });

  const stateOf = (address: string): string | null => {
    const reader = createLeaseReader();
    reader.push(readFileSync(rack.path("dhcpd", "dhcpd.leases")));
    return reader.table.get(address)?.bindingState ?? null;
  };
  const stranger = (n: number): { mac: string; answers: "arp" } => ({ mac: strangerMac(n), answers: "arp" });
  const enrollAndRelease = async (mac: string): Promise<void> => {
    const { allocation } = await region.berthJson<{ allocation: { address: string } }>(
      "machine",
      "enroll",
      mac,
      "--subnet",
      "192.168.50.0/24",
    );
    expect(allocation.address).not.toMatch(/^192\.168\.50\.10[01]$/);
    await rack.waitUntilServing();
    await region.berthJson("machine", "release", mac);
  };

  it("is freed over OMAPI when nobody answers there, left alone while somebody does, and freed when that ends", async () => {
    expect(statSync(rack.path("dhcpd", "omapi.key")).mode & 0o777).toBe(0o600);
    expect(readFileSync(rack.path("dhcpd", "dhcpd.conf"), "utf8")).not.toContain("secret");
    const one = (await wire.dora(stranger(1))).address ?? "";
    const two = (await wire.dora(stranger(2))).address ?? "";
    expect([one, two].sort()).toEqual(["192.168.50.100", "192.168.50.101"]);
    expect((await wire.discover(stranger(3), { attempts: 1 }))?.address).toBeUndefined();

    await enrollAndRelease(strangerMac(1)); // its machine is on, and hears no ping
    wire.powerOff(stranger(2));
    await enrollAndRelease(strangerMac(2));
    await waitUntil(() => stateOf(two), {
      describe: `the lease of ${two} is free`,
      deadlineMs: 60_000,
      until: (state) => state === "free",
    });
    expect(stateOf(one)).toBe("active");
    const next = await wire.dora(stranger(3), { waitMs: 3_000 });
    expect(next.address).toBe(two);

    wire.powerOff(stranger(1));
    await waitUntil(() => stateOf(one), {
      describe: `the lease of ${one} is free`,
      deadlineMs: 60_000,
      until: (state) => state === "free",
    });
    // Its pool was full, and how full it is, is counted every half minute.
    await waitUntil(async () => (await rack.status())?.problems, {
      describe: "no problem is left",
      deadlineMs: 60_000,
      until: (problems) => problems?.length === 0,
    });
  });
});
