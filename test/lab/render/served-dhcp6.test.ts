import { compileDhcpd6, renderDhcpd6 } from "@berth/core";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { goldenCase } from "../../golden-cases.js";
import { startDhcpd6 } from "../lab-daemons.js";
import { createLab, type Lab } from "../lab.js";
import type { Link } from "../link.js";
import { requireTools } from "../require-tools.js";
import type { Running } from "../running.js";

beforeAll(() => requireTools(["ip", "dhcpd", "dhclient"]));

/** The window of the golden case without its holes. */
const FREE = [0x100, 0x101, 0x103, 0x104, 0x106, 0x107, 0x10c, 0x10d, 0x10e, 0x10f].map((n) => `2001:db8:50::${n.toString(16)}`);

describe("a real dhcpd -6 on a golden file", () => {
  let lab: Lab;
  let link: Link;
  let dhcpd: Running;
  beforeEach(async () => {
    lab = await createLab({ name: "served-dhcp6.test" });
    link = await lab.addLink("rack");
    const rack = await lab.addRack("rack", { backbone: null });
    await rack.connect(link, { addresses: ["2001:db8:50::1/64"] });
    const golden = goldenCase("ipv6-window");
    const config = compileDhcpd6(golden.desired, golden.links);
    if (!config.ok) throw new Error(JSON.stringify(config.problems));
    dhcpd = await startDhcpd6(rack, renderDhcpd6(config.value));
  });
  afterEach(() => lab.close());

  async function given(name: string, mac: string, conf?: string): Promise<string | null> {
    const machine = await lab.addMachine(name, link);
    await machine.ip("link", "set", "eth0", "address", mac);
    const client = await machine.dhclient({ family: 6, ...(conf === undefined ? {} : { conf }) });
    const { address, nameServers } = await client.waitForAddress({ deadlineMs: 30_000 });
    expect(nameServers).toEqual(["2001:db8:50::1"]);
    await client.stop();
    return address;
  }

  it("knows machines again by the hardware address in their identifier, of both kinds, and both ends of a bond", async () => {
    expect(await given("llt", "02:00:5e:00:00:01")).toBe("2001:db8:50::105");
    const linkLayer = "send dhcp6.client-id 0:3:0:1:2:0:5e:0:0:2;";
    expect(await given("ll", "02:00:5e:00:00:02", linkLayer)).toBe("2001:db8:50::60");
    expect(await given("bond", "02:00:5e:00:00:03")).toBe("2001:db8:50::60");
  });

  it("gives strangers the window without its holes, and one more nothing", async () => {
    const got = await Promise.all([...FREE.keys()].map((n) => given(`s${n}`, `02:00:5e:00:01:0${n.toString(16)}`)));
    expect(got.sort()).toEqual(FREE);
    const late = await (await lab.addMachine("late", link)).dhclient({ family: 6 });
    await dhcpd.waitForLine(/no addresses available/i);
    expect(late.bound()).toBeNull();
    expect(await given("known", "02:00:5e:00:00:01")).toBe("2001:db8:50::105");
  });
});
