import { readFileSync } from "node:fs";
import { QUESTION_HARDWARE_ADDRESS, type CurrentProblem } from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import type { Host } from "../lab/host.js";
import { startDhcpd } from "../lab/lab-daemons.js";
import { createLab, type Lab } from "../lab/lab.js";
import { requireTools } from "../lab/require-tools.js";
import type { Running } from "../lab/running.js";
import { waitUntil } from "../lab/wait-until.js";

const OWN = "192.168.50.1";
/** What a home router brings along: another network on the same wire. */
const ROUTER = "192.168.1.1";
const ROUTER_CONF = `authoritative; ping-check false; default-lease-time 777; option routers ${ROUTER};
subnet 192.168.1.0 netmask 255.255.255.0 { range 192.168.1.100 192.168.1.120; option domain-name-servers ${ROUTER}; }
`;
/** One that an operator knows of. */
const KNOWN = "192.168.2.1";
const KNOWN_CONF = `ping-check false; subnet 192.168.2.0 netmask 255.255.255.0 { range 192.168.2.100 192.168.2.120; }
`;
/** Two addresses for strangers: a question that dhcpd answered would use one up. */
const WINDOW = "192.168.50.200-192.168.50.201";

describe("a DHCP server that is not ours", () => {
  let lab: Lab;
  let region: Region;
  let rack: Rack;
  let router: Host;
  let foreign: Running;

  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named"]);
    lab = await createLab({ name: "scenario-foreign-dhcp" });
    const link = await lab.addLink("rack1");
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    await region.start();
    const host = await lab.addRack("rack1");
    await host.connect(link, { addresses: [`${OWN}/24`] });
    const dhcpd = { program: host.unconfined("dhcpd"), foreign_check_seconds: 1, known_servers: [KNOWN] };
    rack = new Rack(host, { dhcpd });
    await rack.join(region);
    await rack.start();
    router = await lab.addMachine("router", link);
    await router.ip("address", "add", `${ROUTER}/24`, "dev", "eth0");
    const known = await lab.addMachine("known", link);
    await known.ip("address", "add", `${KNOWN}/24`, "dev", "eth0");
    await startDhcpd(known, KNOWN_CONF);
    foreign = await startDhcpd(router, ROUTER_CONF);
    const mode = ["--mode", "window", "--window", WINDOW];
    await region.berthJson("subnet", "create", "192.168.50.0/24", "--domain", "rack1.example", ...mode);
    await rack.waitUntilServing();
  });
  afterAll(() => lab.close());

  async function found(): Promise<readonly CurrentProblem[]> {
    const { stdout } = await region.berth("problem", "list", "-o", "json"); // its status is 1 while there are any
    const { items } = JSON.parse(stdout) as { items: readonly CurrentProblem[] };
    return items.filter(({ code }) => code === "foreign-dhcp-server" || code === "dhcp-question-failed");
  }

  it("is named at the region with its address, hardware address and what it offers; the known one is not", async () => {
    const [problem, ...others] = await waitUntil(found, {
      describe: "the foreign server is named with its hardware address",
      deadlineMs: 60_000,
      until: (problems) => problems.some(({ message }) => message.includes(router.port("eth0").mac)),
    });
    expect(others).toEqual([]);
    expect(problem?.message).toContain(`${ROUTER} (${router.port("eth0").mac}) answers DHCP`);
    expect(problem?.message).toMatch(/it offers 192\.168\.1\.1\d\d for 777 s, routers 192\.168\.1\.1, DNS 192\.168\.1\.1$/);
  });

  it("got the question and no request; our own dhcpd offered nothing", () => {
    const heard = readFileSync(router.path("dhcpd-eth0.log"), "utf8");
    expect(heard).toContain(`DHCPDISCOVER from ${QUESTION_HARDWARE_ADDRESS}`);
    expect(heard).not.toContain("DHCPREQUEST");
    const own = readFileSync(rack.path("dhcpd.log"), "utf8");
    expect(own).toContain("Server starting service");
    expect(own).not.toMatch(new RegExp(`DHCPOFFER on .* to ${QUESTION_HARDWARE_ADDRESS}`));
  });

  it("is forgotten when it has gone", async () => {
    await foreign.stop();
    const problems = await waitUntil(found, {
      describe: "the foreign server is forgotten",
      deadlineMs: 90_000,
      until: (left) => left.length === 0,
    });
    expect(problems).toEqual([]);
  });
});
