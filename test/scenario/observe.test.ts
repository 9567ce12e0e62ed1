import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import type { Host } from "../lab/host.js";
import { startDhcpd } from "../lab/lab-daemons.js";
import { createLab, type Lab } from "../lab/lab.js";
import { strangerMac, type RawDhcpClient } from "../lab/raw-dhcp-client.js";
import { waitUntil } from "../lab/wait-until.js";

/** The dhcpd of an operator who lets Berth look first. */
const THEIRS = `authoritative; ping-check false;
subnet 192.168.50.0 netmask 255.255.255.0 { range 192.168.50.100 192.168.50.120; default-lease-time 600; }
`;

describe("an agent that only observes", () => {
  let lab: Lab;
  let region: Region;
  let rack: Rack;
  let clients: RawDhcpClient;
  beforeAll(async () => {
    lab = await createLab({ name: "observe" });
    const link = await lab.addLink("rack1");
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    const host = await lab.addRack("rack1");
    await host.connect(link, { addresses: ["192.168.50.1/24"] });
    const crowd = await lab.addHost("crowd");
    await crowd.connect(link);
    clients = await crowd.rawDhcp();
    await startDhcpd(host, THEIRS);
    rack = new Rack(host, {
      mode: "observe",
      dhcpd: { program: host.unconfined("dhcpd"), leases: host.path("dhcpd-eth0.leases") },
    });
    mkdirSync(rack.stateDir, { recursive: true });
    await region.start();
    await rack.join(region);
  });
  afterAll(() => lab.close());

  it("reports the leases of the operator's server, and changes nothing at all", async () => {
    const before = await lookAt(rack);
    await region.berthJson("subnet", "create", "192.168.50.0/24", "--domain", "rack1.example", "--mode", "link-local");
    await rack.start();
    const { address } = await clients.dora({ mac: strangerMac(1) });
    expect(address).toMatch(/^192\.168\.50\.1[0-2]\d$/);
    await waitUntil(() => region.berth("lease", "list"), {
      describe: "the region knows the lease",
      until: ({ stdout }) => stdout.includes(address ?? "none"),
    });
    // It has accepted that it should serve, says that it does not, and has had its chances.
    const status = await waitUntil(() => rack.status(), {
      describe: "it knows what the region wants",
      until: (now) => now?.problems.some(({ code }) => code === "observes-only") === true,
    });
    expect([status?.daemons, (status?.accepted ?? 0) > 0]).toEqual([[], true]);
    expect((await rack.agent("stop-daemons", "--config", rack.configFile)).status).toBe(1);
    expect(await lookAt(rack)).toEqual(before);
    await rack.stop();
    expect((await rack.agent("stop-daemons", "--config", rack.configFile)).status).toBe(0);
    expect(await lookAt(rack)).toEqual(before);
    for (const folder of ["dhcpd", "named", "services"]) expect(existsSync(rack.path(folder))).toBe(false);
    expect((await clients.dora({ mac: strangerMac(2) })).address).toMatch(/^192\.168\.50\.1/);
  });
});

/** Everything of a rack that an agent could change: addresses, routes, rules, sockets of daemons, processes that are not its own, files that are not its own. */
async function lookAt(rack: Rack): Promise<Record<string, unknown>> {
  const { host } = rack;
  const shell = async (script: string): Promise<string> => (await host.run(["sh", "-c", script])).stdout;
  return {
    addresses: (await host.addresses()).map(
      ({ interfaceName, address, prefixLength }) => `${interfaceName} ${address}/${prefixLength}`,
    ),
    routes: await host.ip("route", "show", "table", "all"),
    rules: await host.ip("rule", "show"),
    sockets: await shell("ss -H -l -n -u -t | awk '{print $1, $5}' | sort"),
    // Read whole before anything looks through it: the programs that do run in the namespace, too.
    daemons: await shell(
      `all=$(for p in $(ip netns pids ${host.namespace}); do tr '\\0' ' ' </proc/$p/cmdline; echo; done); echo "$all" | grep -E 'dhcpd|named' | grep -v agent.yaml | sort`,
    ),
    files: filesOf(host, rack.stateDir),
  };
}

/** Digest of every file of the host but the agent's own, its log, and the leases, which the operator's server writes. */
function filesOf(host: Host, stateDir: string): string[] {
  const paths = readdirSync(host.directory, { recursive: true, encoding: "utf8" }).map((path) => join(host.directory, path));
  return paths
    .filter((path) => !path.startsWith(stateDir) && !/\.(log|leases~?)$/.test(path) && statSync(path).isFile())
    .map((path) => `${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`)
    .sort();
}
