import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { berthProgram, Region } from "../lab/berth-region.js";
import type { RackStatus } from "../lab/berth-rack.js";
import { Container } from "../lab/container.js";
import type { Host } from "../lab/host.js";
import { createLab, type Lab } from "../lab/lab.js";
import { strangerMac, type RawDhcpClient } from "../lab/raw-dhcp-client.js";
import type { Argv } from "../lab/run-program.js";
import { waitUntil } from "../lab/wait-until.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STATE = "/var/lib/berth-agent";

/** A rack whose daemons are systemd's, on a real init. */
describe("an agent with the systemd driver", () => {
  let lab: Lab;
  let host: Host;
  let region: Region;
  let container: Container;
  let clients: RawDhcpClient;
  const run = (...argv: Argv) => container.run(argv, { timeoutMs: 60_000 });
  const status = async (): Promise<RackStatus | null> => {
    const { stdout } = await run(berthProgram("berth-agent"), "status", "-o", "json");
    return stdout === "" ? null : (JSON.parse(stdout) as RackStatus);
  };
  const serving = (describe: string) =>
    waitUntil(status, {
      describe,
      deadlineMs: 25_000,
      until: (now) =>
        now !== null && now.accepted > 0 && now.daemons.every(({ state }) => state === "converged" || state === "off"),
    });
  const pidOf = async (unit: string): Promise<number> => Number((await run("systemctl", "show", "-P", "MainPID", unit)).stdout);

  beforeAll(async () => {
    lab = await createLab({ name: "systemd" });
    const link = await lab.addLink("rack1");
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    host = await lab.addRack("rack1");
    await host.connect(link, { addresses: ["192.168.50.1/24"] });
    const crowd = await lab.addHost("crowd");
    await crowd.connect(link);
    clients = await crowd.rawDhcp();
    container = await Container.boot(host, [ROOT]);
    for (const unit of readdirSync(`${ROOT}/systemd`)) await run("cp", `${ROOT}/systemd/${unit}`, "/etc/systemd/system/");
    await run("systemctl", "daemon-reload");
    await region.start();
    const { joinLine } = await region.berthJson<{ joinLine: string }>("token", "create", "--rack", "rack1");
    const [, ...args] = joinLine.split(" ");
    const joined = await run(berthProgram("berth-agent"), ...args, "--state", STATE);
    expect([joined.status, joined.stderr]).toEqual([0, ""]);
    mkdirSync(host.path("etc"), { recursive: true });
    writeFileSync(host.path("etc/agent.yaml"), stringify({ state: STATE, driver: "systemd" }));
    await run("systemd-run", "--unit=berth-agent", berthProgram("berth-agent"), "run", "--config", host.path("etc/agent.yaml"));
    await region.berthJson(
      "subnet",
      "create",
      "192.168.50.0/24",
      "--domain",
      "rack1.example",
      "--mode",
      "link-local",
      "--gateway",
      "192.168.50.1",
    );
  });
  afterAll(async () => {
    await container.close();
    await lab.close();
  });

  it("serves by units, which outlive it and come back without it", async () => {
    await serving("the rack serves");
    const offer = await clients.discover({ mac: strangerMac(1) }, { waitMs: 3_000 });
    expect(offer?.address).toMatch(/^169\.254\./);
    const before = await pidOf("berth-dhcpd.service");
    expect(before).toBeGreaterThan(0);

    await run("systemctl", "stop", "berth-agent.service");
    expect(await pidOf("berth-dhcpd.service")).toBe(before);
    await run("systemctl", "kill", "-s", "KILL", "berth-dhcpd.service");
    const again = await waitUntil(() => pidOf("berth-dhcpd.service"), {
      describe: "systemd starts it anew",
      until: (pid) => pid !== 0 && pid !== before,
    });
    await waitUntil(() => clients.discover({ mac: strangerMac(2) }, { waitMs: 1_000, attempts: 1 }), {
      describe: "it serves with no agent",
    });

    // That start was not the agent's, so it makes one of its own.
    await run("systemd-run", "--unit=berth-agent", berthProgram("berth-agent"), "run", "--config", host.path("etc/agent.yaml"));
    await serving("the rack serves again");
    expect(await pidOf("berth-dhcpd.service")).not.toBe(again);
  });
});
