import { readFileSync } from "node:fs";
import type { CurrentProblem } from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import type { Host } from "../lab/host.js";
import { startDhcpd6 } from "../lab/lab-daemons.js";
import { createLab, type Lab } from "../lab/lab.js";
import { requireTools } from "../lab/require-tools.js";
import type { Running } from "../lab/running.js";
import { waitUntil } from "../lab/wait-until.js";

const PREFIX = "fd50:1::/64";
const FOREIGN_CONF = `default-lease-time 777;
subnet6 fd50:99::/64 { range6 fd50:99::100 fd50:99::120; option dhcp6.name-servers fd50:99::53; }
`;

/** Two racks serve one link, and each hears the other's question. */
describe("a DHCPv6 server that is not ours", () => {
  let lab: Lab;
  let region: Region;
  let router: Host;
  let foreign: Running;
  const racks: Rack[] = [];

  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named"]);
    lab = await createLab({ name: "foreign-dhcp6" });
    const link = await lab.addLink("shared");
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    await region.start();
    for (const n of [1, 2]) {
      const host = await lab.addRack(`rack${n}`);
      await host.connect(link, { addresses: [`fd50:1::${n}/64`] });
      const rack = new Rack(host, { dhcpd: { program: host.unconfined("dhcpd"), foreign_check_seconds: 1 } });
      await rack.join(region);
      await rack.start();
      racks.push(rack);
    }
    router = await lab.addMachine("router", link);
    await router.ip("address", "add", "fd50:99::1/64", "dev", "eth0", "nodad");
    foreign = await startDhcpd6(router, FOREIGN_CONF);
    const mode = ["--mode", "window", "--window", "fd50:1::100-fd50:1::1ff"];
    await region.berthJson("subnet", "create", PREFIX, "--domain", "six.example", ...mode);
    for (const rack of racks) await rack.waitUntilServing({ deadlineMs: 60_000 });
  });
  afterAll(() => lab.close());

  async function found(): Promise<readonly CurrentProblem[]> {
    const { stdout } = await region.berth("problem", "list", "-o", "json"); // its status is 1 while there are any
    const { items } = JSON.parse(stdout) as { items: readonly CurrentProblem[] };
    return items.filter(({ code }) => code === "foreign-dhcp-server" || code === "dhcp-question-failed");
  }

  it("is named by both racks with its address, hardware address and what it offers; they do not name each other", async () => {
    const { mac } = router.port("eth0");
    const problems = await waitUntil(found, {
      describe: "both racks name the foreign server with its hardware address",
      deadlineMs: 90_000,
      until: (all) => all.filter(({ message }) => message.includes(mac)).length === 2,
    });
    expect(problems).toHaveLength(2);
    for (const { message } of problems) {
      expect(message).toMatch(/^fe80::[0-9a-f:]+ \([0-9a-f:]+\) answers DHCP on a link that Berth serves/);
      expect(message).toMatch(/it offers fd50:99::1[0-9a-f]+ for 777 s, DNS fd50:99::53$/);
    }
    for (const rack of racks) {
      const log = readFileSync(rack.path("dhcpd6.log"), "utf8");
      expect(log).toContain("Server starting service");
      expect(log).not.toMatch(/Advertise NA: address/);
      expect(await rack.status()).toMatchObject({ leases6: { leases: 0 } });
    }
  });

  it("was only asked, and is forgotten when it has gone; the racks' own servers are taken for alive all the while", async () => {
    expect(readFileSync(router.path("dhcpd6-eth0.log"), "utf8")).not.toContain("Request message");
    await foreign.stop();
    const problems = await waitUntil(found, {
      describe: "the foreign server is forgotten",
      deadlineMs: 120_000,
      until: (left) => left.length === 0,
    });
    expect(problems).toEqual([]);
    for (const rack of racks) {
      const status = await rack.status();
      expect(status?.daemons.find(({ name }) => name === "dhcpd6")).toMatchObject({ state: "converged", problems: [] });
    }
  });
});
