import type { AllocationView, CurrentProblem } from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import { createLab, type Lab } from "../lab/lab.js";
import type { Link } from "../lab/link.js";
import type { Machine } from "../lab/machine.js";
import { requireTools } from "../lab/require-tools.js";
import { waitUntil } from "../lab/wait-until.js";

const OWN = "192.168.50.1";
/** Free addresses are given from .2 on: somebody has the second one, and somebody else the fourth, of whom the rack's kernel believes an old tale. */
const SQUATTED = "192.168.50.3";
const STALE = "192.168.50.5";
const OLD_MAC = "02:00:00:00:00:99";
const MACS = ["02:00:5e:00:53:01", "02:00:5e:00:53:02", "02:00:5e:00:53:03"] as const;

describe("what is on the wire and in no database", () => {
  let lab: Lab;
  let link: Link;
  let region: Region;
  let rack: Rack;
  let squatter: Machine;
  let returned: Machine;

  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named", "arping"]);
    lab = await createLab({ name: "scenario-wire" });
    link = await lab.addLink("rack1");
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    await region.start();
    const host = await lab.addRack("rack1");
    await host.connect(link, { addresses: [`${OWN}/24`] });
    rack = new Rack(host);
    await rack.join(region);
    await rack.start();
    squatter = await machineAt("squatter", SQUATTED);
    returned = await machineAt("returned", STALE);
    await host.ip("neigh", "replace", STALE, "lladdr", OLD_MAC, "dev", "eth0", "nud", "reachable");
    await region.berthJson(
      "subnet",
      "create",
      "192.168.50.0/24",
      "--gateway",
      OWN,
      "--domain",
      "rack1.example",
      "--mode",
      "static",
    );
    await rack.waitUntilServing();
  });
  afterAll(() => lab.close());

  async function machineAt(name: string, address: string): Promise<Machine> {
    const machine = await lab.addMachine(name, link);
    await machine.ip("address", "add", `${address}/24`, "dev", "eth0");
    return machine;
  }

  async function enroll(mac: string): Promise<AllocationView> {
    return (await region.berthJson<{ allocation: AllocationView }>("machine", "enroll", mac, "--subnet", "192.168.50.0/24"))
      .allocation;
  }

  async function allocations(): Promise<readonly AllocationView[]> {
    return (await region.berthJson<{ items: readonly AllocationView[] }>("allocation", "list")).items;
  }

  it("is found ahead of need, and an address that was probed free is born verified", async () => {
    expect((await enroll(MACS[0])).address).toBe("192.168.50.2");
    const [first] = await waitUntil(allocations, {
      describe: "the first allocation is probed",
      deadlineMs: 60_000,
      until: ([one]) => one?.verification === "verified",
    });
    expect(first?.address).toBe("192.168.50.2");
    const second = await enroll(MACS[1]);
    expect([second.address, second.verification]).toEqual(["192.168.50.4", "verified"]);
  });

  it("is refused by name with the hardware address that answered just then, also after a restart of the coordinator", async () => {
    await region.stop();
    await region.start();
    for (const [address, holder] of [
      [SQUATTED, squatter],
      [STALE, returned],
    ] as const) {
      const refused = await region.berth("machine", "enroll", MACS[2], "--subnet", "192.168.50.0/24", "--address", address);
      expect(refused.status).toBe(1);
      expect(refused.stderr).toContain("address-held-by-stranger");
      expect(refused.stderr).toContain(holder.port().mac);
      expect(refused.stderr).not.toContain(OLD_MAC);
    }
    expect((await enroll(MACS[2])).address).toBe("192.168.50.6");
  });

  it("is named when it answers for a machine's address", async () => {
    const intruder = await machineAt("intruder", "192.168.50.2");
    const talk = await intruder.spawn(["ping", "-q", "-i", "1", OWN]);
    const problems = await waitUntil(
      async () => {
        const { stdout } = await region.berth("problem", "list", "-o", "json"); // its status is 1 while there are any
        return (JSON.parse(stdout) as { items: readonly CurrentProblem[] }).items;
      },
      {
        describe: "the intruder is named",
        deadlineMs: 170_000,
        until: (items) => items.some(({ code }) => code === "address-in-use-by-other"),
      },
    );
    await talk.stop();
    const found = problems.filter(({ code }) => code === "address-in-use-by-other");
    expect(found).toHaveLength(1);
    expect(found[0]?.message).toContain(`${intruder.port().mac} answers for 192.168.50.2 on rack rack1`);
    expect(found[0]?.message).toContain(MACS[0]);
    const [taken] = await allocations();
    expect([taken?.address, taken?.verification]).toEqual(["192.168.50.2", "in-use-by-other"]);
  }, 180_000);
});
