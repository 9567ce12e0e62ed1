import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { kill } from "node:process";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { processesIn } from "../lab/namespaces.js";
import { strangerMac, type RawDhcpClient } from "../lab/raw-dhcp-client.js";
import { waitUntil } from "../lab/wait-until.js";
import { createStage, DECLARE_SUBNET, SUBNET, type Stage } from "./stage.js";

/** What happens to a rack host in the course of things, and what comes right again by itself. */
describe("a rack recovers", () => {
  let stage: Stage;
  let wire: RawDhcpClient;
  let stranger = 0;
  beforeAll(async () => {
    stage = await createStage("recovery", () => undefined);
    wire = await stage.machines[2].rawDhcp();
  });
  afterAll(async () => {
    await wire.close();
    await stage.lab.close();
  });
  beforeEach(async () => {
    await stage.rack.waitUntilServing();
  });

  const problems = async (): Promise<string[]> =>
    (await stage.rack.status())?.daemons.flatMap((daemon) => daemon.problems.map(({ code }) => code)) ?? [];
  const served = async (): Promise<string | null> => {
    const exchange = await wire.dora({ mac: strangerMac(stranger++) }, { attempts: 2, waitMs: 1_500 });
    return exchange.offer?.serverId ?? null;
  };
  const hasEnlistmentAddress = async (): Promise<boolean> =>
    (await stage.rack.host.addresses("eth0")).some(({ address }) => address.startsWith("169.254."));
  /** Of this lab's rack only: the argument list is looked at, never a name alone. */
  const pidOf = (program: string): number =>
    processesIn([stage.rack.host.namespace]).find((pid) => programOf(pid).endsWith(`/${program}`)) ?? 0;

  it("from a killed dhcpd and a killed named", async () => {
    for (const program of ["dhcpd", "named"]) {
      const before = pidOf(program);
      kill(before, "SIGKILL");
      await waitUntil(() => pidOf(program), { describe: `${program} runs again`, until: (pid) => pid !== 0 && pid !== before });
    }
    await stage.rack.waitUntilServing();
    expect(await served()).toMatch(/^169\.254\./);
  });

  it("from an interface that was made anew under its old name", async () => {
    const { host } = stage.rack;
    await host.ip("link", "del", "eth0");
    host.ports.delete("eth0");
    await host.connect(stage.link, { interfaceName: "eth0", addresses: [`${SUBNET.rack}/24`] });
    await waitUntil(served, {
      describe: "a stranger is answered on the new interface",
      deadlineMs: 30_000,
      until: (server) => server !== null,
    });
    expect(await hasEnlistmentAddress()).toBe(true);
  });

  it("from an enlistment address that somebody took away, also with all others of the interface", async () => {
    const { host } = stage.rack;
    const [own] = (await host.addresses("eth0")).filter(({ address }) => address.startsWith("169.254."));
    await host.ip("address", "del", `${own?.address}/${own?.prefixLength}`, "dev", "eth0");
    await waitUntil(hasEnlistmentAddress, { describe: "the enlistment address is back" });
    await host.ip("address", "flush", "dev", "eth0");
    await host.ip("address", "add", `${SUBNET.rack}/24`, "dev", "eth0");
    await waitUntil(hasEnlistmentAddress, { describe: "the enlistment address is back after a flush" });
  });

  it("from an address that blinks, without a restart of anything", async () => {
    const { host } = stage.rack;
    const before = { dhcpd: pidOf("dhcpd"), named: pidOf("named"), accepted: (await stage.rack.status())?.accepted };
    await host.ip("address", "del", `${SUBNET.rack}/24`, "dev", "eth0");
    await waitUntil(() => host.addresses("eth0"), {
      describe: "it is gone",
      until: (all) => all.every(({ address }) => address !== SUBNET.rack),
    });
    await host.ip("address", "add", `${SUBNET.rack}/24`, "dev", "eth0");
    // The same facts a moment after the time that an address is given to come back.
    const end = performance.now() + 7_000;
    await waitUntil(() => performance.now() > end, { describe: "the time is over" });
    await stage.rack.waitUntilServing();
    expect({ dhcpd: pidOf("dhcpd"), named: pidOf("named"), accepted: (await stage.rack.status())?.accepted }).toEqual(before);
  });

  it("from a lost key of named's control channel", async () => {
    for (const damage of [() => writeFile(stage.rack.path("named/rndc.key"), ""), () => rm(stage.rack.path("named/rndc.key"))]) {
      await damage();
      const name = `k${stranger++}`;
      await stage.region.berthJson("machine", "enroll", strangerMac(1000 + stranger), "--name", name);
      await waitUntil(() => stage.rack.host.query(`${name}.${SUBNET.domain}`, "A", SUBNET.rack), {
        describe: `${name} resolves`,
        deadlineMs: 30_000,
        until: ({ values }) => values.length === 1,
      });
    }
  });

  it("from a name server's port that another program holds, and says who", async () => {
    const { rack } = stage;
    const script = `require("node:net").createServer().listen(53, "${SUBNET.rack}", () => console.log("bound"))`;
    await rack.stop();
    await rack.agent("stop-daemons", "--config", rack.configFile);
    const squatter = await rack.host.spawn([process.execPath, "-e", script]);
    await squatter.waitForLine(/bound/);
    await rack.start();
    await waitUntil(problems, { describe: "named's problem", until: (codes) => codes.includes("port-occupied") });
    expect((await rack.status())?.daemons.find(({ name }) => name === "named")?.state).toBe("failing");
    await squatter.stop();
    await rack.waitUntilServing();
  });

  it("from a dhcpd that keeps dying, and names it meanwhile", async () => {
    const end = performance.now() + 60_000;
    while (!(await problems()).includes("dhcpd-keeps-dying")) {
      expect(performance.now()).toBeLessThan(end);
      const pid = pidOf("dhcpd");
      if (pid !== 0) kill(pid, "SIGKILL");
    }
    await waitUntil(problems, { describe: "it lives long enough", deadlineMs: 40_000, until: (codes) => codes.length === 0 });
  });

  it("takes the enlistment address away when the network is switched off, even where dhcpd cannot run", async () => {
    await stage.rack.stop();
    await stage.rack.agent("stop-daemons", "--config", stage.rack.configFile);
    const script = 'require("node:dgram").createSocket("udp4").bind(67, "0.0.0.0", () => console.log("bound"))';
    const holder = await stage.rack.host.spawn([process.execPath, "-e", script]);
    await holder.waitForLine(/bound/);
    await stage.rack.start();
    await waitUntil(problems, { describe: "dhcpd's problem", until: (codes) => codes.includes("port-occupied") });
    expect(await hasEnlistmentAddress()).toBe(true);
    await stage.region.berthJson("subnet", "set", SUBNET.prefix, "--mode", "off");
    await waitUntil(hasEnlistmentAddress, { describe: "no enlistment address is left", until: (there) => !there });
    await holder.stop();
    await stage.region.berthJson("subnet", "set", SUBNET.prefix, ...DECLARE_SUBNET.slice(DECLARE_SUBNET.indexOf("--mode")));
    await stage.rack.waitUntilServing();
  });
});

/** The path a process was started as; empty when it is gone. */
function programOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] ?? "";
  } catch {
    return "";
  }
}
