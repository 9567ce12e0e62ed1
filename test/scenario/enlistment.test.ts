import { readFileSync } from "node:fs";
import { kill } from "node:process";
import { createLeaseReader } from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import type { DhcpClient } from "../lab/dhcp-client.js";
import { createLab, type Lab } from "../lab/lab.js";
import type { Link } from "../lab/link.js";
import type { Machine } from "../lab/machine.js";
import { processesIn } from "../lab/namespaces.js";
import { strangerMac, type RawDhcpClient } from "../lab/raw-dhcp-client.js";
import { requireTools } from "../lab/require-tools.js";
import { waitUntil } from "../lab/wait-until.js";

/** Leases of 30 s, the shortest: a client renews after fifteen. */
const LEASE = "30s";
/** Two slices: the second one holds the clouds' metadata address 169.254.169.254, which nobody may be given. */
const POOL = "169.254.169.224/27";
const SLICE_LENGTH = "28";

interface Wire {
  readonly link: Link;
  readonly crowd: RawDhcpClient;
}

/** Two links of one rack in link-local mode, and machines with three kinds of clients on the first. */
describe("enlistment", () => {
  let lab: Lab;
  let region: Region;
  let rack: Rack;
  const wires: Wire[] = [];
  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named", "dhclient", "udhcpc", "dhcpcd", "gcc"]);
    lab = await createLab({ name: "enlistment" });
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    const host = await lab.addRack("rack1");
    for (const n of [5, 6]) {
      const link = await lab.addLink(`link${n}`);
      await host.connect(link, { addresses: [`192.168.${n}0.1/24`] });
      wires.push({ link, crowd: await (await lab.addMachine(`crowd${n}`, link)).rawDhcp() });
    }
    rack = new Rack(host);
    await region.start();
    await rack.join(region);
    await rack.start();
    const enlistment = ["--mode", "link-local", "--enlist-lease", LEASE, "--pool", POOL, "--slice-length", SLICE_LENGTH];
    await region.berthJson("subnet", "create", "192.168.50.0/24", "--domain", "a.example", ...enlistment);
    await region.berthJson("subnet", "create", "192.168.60.0/24", "--domain", "b.example", ...enlistment);
    await rack.waitUntilServing();
  });
  afterAll(async () => {
    await Promise.all(wires.map(({ crowd }) => crowd.close()));
    await lab.close();
  });

  const wire = (n: 0 | 1): Wire => {
    const found = wires[n];
    if (found === undefined) throw new Error("no such wire");
    return found;
  };
  const poolAddress = async (interfaceName: string): Promise<string | undefined> =>
    (await rack.host.addresses(interfaceName)).find(({ address }) => address.startsWith("169.254."))?.address;
  const stateOf = (address: string): string | null => {
    const reader = createLeaseReader();
    reader.push(readFileSync(rack.path("dhcpd", "dhcpd.leases")));
    return reader.table.get(address)?.bindingState ?? null;
  };
  const dhcpdPid = (): number =>
    processesIn([rack.host.namespace]).find((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("/dhcpd\0-4")) ?? 0;

  it("gives each link a slice of its own, from a server that strangers there can reach, and never the metadata address", async () => {
    const servers = await Promise.all(["eth0", "eth1"].map(poolAddress));
    expect(servers).toEqual(["169.254.169.241", "169.254.169.225"]);
    for (const n of [0, 1] as const) {
      const { crowd } = wire(n);
      const exchanges = await crowd.each(
        Array.from({ length: 20 }, (_, i) => i),
        (i) => crowd.dora({ mac: strangerMac(n * 100 + i), answers: "arp" }, { attempts: 1, waitMs: 3_000 }),
      );
      const given = exchanges.flatMap(({ address }) => address ?? []);
      expect(new Set(given).size).toBe(given.length);
      expect(given).not.toContain("169.254.169.254");
      expect(new Set(exchanges.flatMap(({ offer }) => offer?.serverId ?? []))).toEqual(new Set([servers[n]]));
      expect(given).toHaveLength(n === 0 ? 12 : 13); // 16 less network, broadcast, the rack, and the metadata address
      for (const one of exchanges)
        if (one.address !== null && one.reply !== null) crowd.release(one.stranger, one.address, one.reply);
    }
  });

  it("serves dhclient, udhcpc and dhcpcd through renewal, reboot, release and decline", async () => {
    const machine = (name: string): Promise<Machine> => lab.addMachine(name, wire(0).link);
    const [a, b, c] = [await machine("dhclient"), await machine("udhcpc"), await machine("dhcpcd")];
    const clients = { a: await a.dhclient(), b: await b.udhcpc(), c: await c.dhcpcd() };
    const addresses: string[] = [];
    for (const client of Object.values(clients))
      addresses.push((await client.waitForAddress({ deadlineMs: 40_000 })).address ?? "");
    expect(new Set(addresses).size).toBe(3);
    for (const one of [a, b, c]) expect(await one.ping((await poolAddress("eth0")) ?? "", { count: 3 })).toBe(true);

    const again = (client: DhcpClient, reason: string): Promise<unknown> =>
      client.waitFor((event) => event.reason === reason, { deadlineMs: 40_000, describe: reason });
    await Promise.all([again(clients.a, "RENEW"), again(clients.b, "RENEW"), again(clients.c, "RENEW")]);

    const [first = "", second = "", third = ""] = addresses;
    expect((await (await a.reboot({ leaseFile: "keep" })).waitForAddress()).address).toBe(first);
    expect((await (await c.reboot({ leaseFile: "keep" })).waitForAddress({ deadlineMs: 40_000 })).address).toBe(third);

    kill(b.client().running.pid, "SIGUSR2"); // udhcpc gives its lease back
    await waitUntil(() => stateOf(second), { describe: "the lease is released", until: (state) => state === "free" });

    const { crowd } = wire(0);
    const d = await machine("decliner");
    const offered = (await crowd.discover({ mac: d.port().mac }))?.address ?? "";
    crowd.squat({ mac: strangerMac(7_000), answers: "arp" }, offered);
    const declined = await d.udhcpc({ arguments: ["-a"] });
    const { address } = await declined.waitForAddress({ deadlineMs: 60_000 });
    expect(address).not.toBe(offered);
    expect(stateOf(offered)).toBe("abandoned");
  });

  it("answers one who rebinds: leases this short end before dhclient would", async () => {
    const { crowd } = wire(0);
    const stranger = { mac: strangerMac(8_000), answers: "arp" as const };
    const { address, reply } = await crowd.dora(stranger, { waitMs: 4_000 });
    if (address === null || reply === null) throw new Error("no address");
    expect((await crowd.renew(stranger, address, { server: reply })).reply?.type).toBe("ACK");
    expect(await crowd.renew(stranger, address)).toMatchObject({ address, reply: { type: "ACK", leaseSeconds: 30 } });
  });

  it("moves a machine to its static address at its next contact, by refusing the old one", async () => {
    const machine = await lab.addMachine("mover", wire(0).link);
    const client = await machine.dhclient();
    await client.waitForAddress();
    const { mac } = machine.port();
    const view = await region.berthJson<{ allocation: { address: string } }>(
      "machine",
      "enroll",
      mac,
      "--subnet",
      "192.168.50.0/24",
    );
    await client.waitForAddress({ address: view.allocation.address, deadlineMs: 40_000 });
    const log = readFileSync(rack.path("dhcpd.log"), "latin1");
    expect(log).toMatch(new RegExp(`DHCPNAK on 169\\.254\\.\\S+ to ${mac}`));
    // Known to dhcpd by now, it gets nothing from the pool any more.
    const { crowd } = wire(0);
    expect((await crowd.discover({ mac }))?.address).toBe(view.allocation.address);
  });

  it("takes the rack's pool address away when the mode ends, on that link alone", async () => {
    const before = dhcpdPid();
    await region.berthJson("subnet", "set", "192.168.60.0/24", "--mode", "static");
    await waitUntil(() => poolAddress("eth1"), {
      describe: "eth1 has no pool address",
      until: (address) => address === undefined,
    });
    expect(await poolAddress("eth0")).toBeDefined();
    await rack.waitUntilServing();
    expect(dhcpdPid()).not.toBe(before);
    expect(await wire(1).crowd.discover({ mac: strangerMac(9_000) }, { attempts: 1 })).toBeNull();
    expect((await wire(0).crowd.discover({ mac: strangerMac(9_001) }))?.address).toMatch(/^169\.254\./);
  });
});
