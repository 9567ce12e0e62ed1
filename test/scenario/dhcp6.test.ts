import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import { createLab, type Lab } from "../lab/lab.js";
import type { Link } from "../lab/link.js";
import { requireTools } from "../lab/require-tools.js";
import { waitUntil } from "../lab/wait-until.js";

const PREFIX = "fd50:1::/64";
const WINDOW = ["fd50:1::100", "fd50:1::101", "fd50:1::102", "fd50:1::103"] as const;

/** A rack whose link has IPv6 alone beside its backbone: region, agent, dhcpd -6 and clients, all real. */
describe("DHCP on IPv6", () => {
  let lab: Lab;
  let region: Region;
  let rack: Rack;
  let link: Link;
  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named", "dhclient"]);
    lab = await createLab({ name: "dhcp6" });
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    link = await lab.addLink("rack1");
    const host = await lab.addRack("rack1");
    await host.connect(link, { addresses: ["fd50:1::1/64"] });
    rack = new Rack(host, { dhcpd: { program: host.unconfined("dhcpd"), pool_check_seconds: 1 } });
    await region.start();
    await rack.join(region);
    await rack.start();
    const window = ["--mode", "window", "--window", `${WINDOW[0]}-${WINDOW[3]}`, "--reserve", `${WINDOW[1]}-${WINDOW[1]}`];
    await region.berthJson("subnet", "create", PREFIX, "--domain", "six.example", ...window);
    await rack.waitUntilServing();
  });
  afterAll(() => lab.close());

  const conf = (): string => readFileSync(rack.path("dhcpd6", "dhcpd6.conf"), "utf8");
  const daemon = async (): Promise<unknown> => (await rack.status())?.daemons.find(({ name }) => name === "dhcpd6");

  it("gives a known machine its address, strangers the window, and nobody what is reserved in it", async () => {
    const known = await lab.addMachine("known", link);
    await region.berthJson("machine", "enroll", known.port().mac, "--subnet", PREFIX, "--address", "fd50:1::50");
    await waitUntil(() => conf(), { describe: "it is declared", until: (text) => text.includes("fixed-address6 fd50:1::50;") });
    await rack.waitUntilServing();
    const strangers = await Promise.all(["s1", "s2", "s3"].map((name) => lab.addMachine(name, link)));
    const given = await Promise.all(
      [known, ...strangers].map(async (machine) => (await (await machine.dhclient({ family: 6 })).waitForAddress()).address),
    );
    expect([given[0], ...given.slice(1).sort()]).toEqual(["fd50:1::50", WINDOW[0], WINDOW[2], WINDOW[3]]);
    expect(await daemon()).toMatchObject({ state: "converged", problems: [] });
  });

  it("says that the window is full, and shows its leases and its server where those of IPv4 are shown", async () => {
    const problems = await waitUntil(async () => (await rack.status())?.problems ?? [], {
      describe: "the window is counted",
      until: (all) => all.length > 0,
    });
    const message = "3 of the 3 addresses for unknown machines are used, 0 free";
    expect(problems).toMatchObject([{ code: "pool-nearly-exhausted", at: `subnet ${PREFIX}`, message }]);
    expect((await rack.agent("status", "--state", rack.stateDir)).stdout).toMatch(
      /^leases6 {5}[34] in the file, following, last change /m,
    );
    const { stdout } = await region.berth("rack", "list", "-o", "wide");
    const [titles = "", row = ""] = stdout.split("\n");
    expect(row.slice(titles.indexOf("DHCPD6"))).toMatch(/^converged/);
  });

  it("keeps an address that a stranger holds from everybody else until the lease ends", async () => {
    await waitUntil(() => region.berthJson("lease", "list"), {
      describe: "the region knows all three leases",
      until: (leases) => [WINDOW[0], WINDOW[2], WINDOW[3]].every((address) => JSON.stringify(leases).includes(`"${address}"`)),
    });
    await region.berthJson("subnet", "set", PREFIX, "--window", `${WINDOW[3]}-${WINDOW[3]}`);
    const again = region.berthJson("machine", "enroll", "02:00:5e:00:00:77", "--subnet", PREFIX, "--address", WINDOW[0]);
    await expect(again).rejects.toThrow("address-resting");
  });

  it("gives strangers nothing in mode static, and serves nothing in mode off", async () => {
    await region.berthJson("subnet", "set", PREFIX, "--mode", "static");
    await waitUntil(() => conf(), { describe: "no window is left", until: (text) => !text.includes("range6") });
    await rack.waitUntilServing();
    const known = await lab.addMachine("known2", link);
    await region.berthJson("machine", "enroll", known.port().mac, "--subnet", PREFIX, "--address", "fd50:1::51");
    await waitUntil(() => conf(), { describe: "it is declared", until: (text) => text.includes("fd50:1::51") });
    await rack.waitUntilServing();
    expect((await (await known.dhclient({ family: 6 })).waitForAddress()).address).toBe("fd50:1::51");
    await region.berthJson("subnet", "set", PREFIX, "--mode", "off");
    await waitUntil(daemon, {
      describe: "dhcpd6 is stopped",
      until: (status) => (status as { running: string | null } | undefined)?.running === null,
    });
  });
});
