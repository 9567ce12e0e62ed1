import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Host } from "./host.js";
import { asksTime, keepalivedConfig, startChronyd, startDhcpd6, startKeepalived } from "./lab-daemons.js";
import { createLab, type Lab } from "./lab.js";
import type { Link } from "./link.js";
import { processesIn } from "./namespaces.js";
import { requireTools } from "./require-tools.js";
import { waitUntil } from "./wait-until.js";

const VIP = "192.168.50.28";

describe("other people's daemons in the lab", () => {
  let lab: Lab;
  let link: Link;
  let racks: readonly [Host, Host];

  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "dhclient", "keepalived", "chronyd", "gcc"]);
    lab = await createLab({ name: "lab-daemons.test" });
    link = await lab.addLink("shared");
    racks = [await lab.addRack("rack1"), await lab.addRack("rack2")];
    await racks[0].connect(link, { addresses: ["192.168.50.1/24"] });
    await racks[1].connect(link, { addresses: ["192.168.50.2/24"] });
  });
  afterAll(() => lab.close());

  /** The racks that hold the virtual address now. */
  async function holders(): Promise<string[]> {
    const held = await Promise.all(
      racks.map(async (rack) => ((await rack.addresses("eth0")).some((a) => a.address === VIP) ? [rack.name] : [])),
    );
    return held.flat();
  }

  it("moves a virtual address when its holder is stopped, and leaves it on both when the holder is killed", async () => {
    const start = (rack: Host, priority: number): ReturnType<typeof startKeepalived> =>
      startKeepalived(rack, keepalivedConfig({ interfaceName: "eth0", priority, addresses: [`${VIP}/32 label eth0:vip`] }));
    const first = await start(racks[0], 100);
    await waitUntil(holders, { describe: "rack1 holds it", until: (h) => h.join() === "rack1" });
    await start(racks[1], 90);
    await first.stop();
    await waitUntil(holders, { describe: "rack2 holds it alone", until: (h) => h.join() === "rack2" });

    // Its children would take the address away: all die at once, as when the kernel runs out of memory.
    for (const pid of processesIn([racks[1].namespace])) process.kill(pid, "SIGKILL");
    await start(racks[0], 100);
    await waitUntil(holders, { describe: "both hold it", until: (h) => h.length === 2, deadlineMs: 15_000 });
    const machine = await lab.addMachine("one", link);
    expect(await machine.arping(VIP)).toEqual(racks.map((rack) => rack.port("eth0").mac).sort());
  });

  it("gives a machine an IPv6 address by DHCPv6", async () => {
    const six = await lab.addLink("six");
    await racks[0].connect(six, { interfaceName: "eth1", addresses: ["fd50:1::1/64"] });
    const options = 'option dhcp6.name-servers fd50:1::1; option dhcp6.domain-search "rack1.example";';
    await startDhcpd6(
      racks[0],
      `authoritative; default-lease-time 600; ${options}
      subnet6 fd50:1::/64 { range6 fd50:1::100 fd50:1::1ff; }`,
      "eth1",
    );
    const machine = await lab.addMachine("six", six);
    const bound = await (await machine.dhclient({ family: 6 })).waitForAddress();
    expect(bound).toMatchObject({ reason: "BOUND6", mask: "128", leaseSeconds: 600, nameServers: ["fd50:1::1"] });
    expect(bound.domainSearch).toMatch(/^rack1\.example\.?$/);
    expect((await machine.addresses("eth0")).map((a) => a.address)).toContain(bound.address);
  });

  it("serves time without touching the clock of the machine", async () => {
    await startChronyd(racks[0]);
    await waitUntil(() => asksTime(racks[1], "192.168.50.1"), { describe: "rack1 answers NTP", deadlineMs: 30_000 });
    expect(await asksTime(racks[1], "192.168.50.99")).toBe(false);
  });
});
