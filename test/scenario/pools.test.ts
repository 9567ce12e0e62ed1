import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import { createLab, type Lab } from "../lab/lab.js";
import type { RawDhcpClient } from "../lab/raw-dhcp-client.js";
import { requireTools } from "../lab/require-tools.js";
import { waitUntil } from "../lab/wait-until.js";

/** Room for two strangers. */
const WINDOW = "192.168.50.200-192.168.50.201";
const FIRST = { mac: "02:00:00:00:50:01" };
const SECOND = { mac: "02:00:00:00:50:02" };
const THIRD = { mac: "02:00:00:00:50:03" };
const ONCE = { attempts: 1, waitMs: 500 };

describe("a window of two addresses", () => {
  let lab: Lab;
  let rack: Rack;
  let clients: RawDhcpClient;

  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named"]);
    lab = await createLab({ name: "scenario-pools" });
    const link = await lab.addLink("rack1");
    const region = new Region(await lab.addRegion("region"), "10.240.1.10");
    await region.start();
    const host = await lab.addRack("rack1");
    await host.connect(link, { addresses: ["192.168.50.1/24"] });
    rack = new Rack(host, { dhcpd: { program: host.unconfined("dhcpd"), pool_check_seconds: 1, foreign_check_seconds: 0 } });
    await rack.join(region);
    await rack.start();
    const mode = ["--mode", "window", "--window", WINDOW];
    await region.berthJson("subnet", "create", "192.168.50.0/24", "--domain", "rack1.example", ...mode);
    await rack.waitUntilServing();
    clients = await (await lab.addMachine("strangers", link)).rawDhcp();
  });
  afterAll(() => lab.close());

  async function problems(): Promise<readonly string[]> {
    const found = (await rack.status())?.problems ?? [];
    return found.map(({ code, at, message }) => `${code} ${at}: ${message}`).filter((text) => /^(pool|no-lease)/.test(text));
  }

  it("is reported when both are leased, and so is the machine that then gets none; both end when one is released", async () => {
    const first = await clients.dora(FIRST);
    const second = await clients.dora(SECOND);
    const full = "pool-nearly-exhausted subnet 192.168.50.0/24: 2 of the 2 addresses for unknown machines are used, 0 free";
    await waitUntil(problems, { describe: "the full pool is reported", until: (found) => found.includes(full) });

    const refused = async (): Promise<readonly string[]> => {
      expect((await clients.dora(THIRD, ONCE)).address).toBeNull();
      return problems();
    };
    const both = await waitUntil(refused, { describe: "who gets nothing is reported", until: (found) => found.length === 2 });
    expect(both[1]).toMatch(/^no-lease-granted subnet 192\.168\.50\.0\/24: .*: 02:00:00:00:50:03; it has no free lease, 2 of 2/);

    if (first.offer === null || first.address === null || second.address === null) throw new Error("the window gave no lease");
    clients.release(FIRST, first.address, first.offer);
    const third = await waitUntil(() => clients.dora(THIRD, ONCE), {
      describe: "the third has the address of the first",
      until: ({ address }) => address !== null,
    });
    await waitUntil(problems, {
      describe: "nobody waits any more",
      until: (found) => found.length === 1 && found[0] === full,
    });
    if (third.offer === null || third.address === null) throw new Error("the third has no lease");
    clients.release(THIRD, third.address, third.offer);
    expect(await waitUntil(problems, { describe: "the pool has room again", until: (found) => found.length === 0 })).toEqual([]);
  });
});
