import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ipAddress } from "@berth/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { heardQuestion } from "../../packages/agent/src/dhcp/ask-dhcp.js";
import type { Host } from "./host.js";
import { startDhcpd, startDhcpd6 } from "./lab-daemons.js";
import { createLab, type Lab } from "./lab.js";
import type { Link } from "./link.js";
import { programSource } from "./programs.js";
import { waitUntil } from "./wait-until.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const RACK = "192.168.50.1";
const STATIC = "subnet 192.168.50.0 netmask 255.255.255.0 { }";
const CONFIGS = {
  static: `authoritative; ${STATIC}`,
  window:
    "authoritative; subnet 192.168.50.0 netmask 255.255.255.0 { pool { deny known-clients; range 192.168.50.100 192.168.50.110; } }",
  "link-local": `shared-network rack { authoritative; ${STATIC} subnet 169.254.16.0 netmask 255.255.240.0 { pool { range 169.254.16.2 169.254.16.9; } } }`,
} as const;

/** Whether the dhcpd of this host answers its own host, and only then. */
describe("asking dhcpd whether it answers", () => {
  let lab: Lab;
  let host: Host;
  let link: Link;
  beforeEach(async () => {
    lab = await createLab({ name: "ask-dhcp" });
    link = await lab.addLink("rack");
    host = await lab.addRack("rack", { backbone: null });
    await host.connect(link, { addresses: [`${RACK}/24`, "fd50:1::1/64"] });
    await (await lab.addHost("peer")).connect(link);
  });
  afterEach(() => lab.close());

  const ask = async (family: 4 | 6 = 4, address = RACK): Promise<boolean | string> => {
    const argv = ["node", "--import", "tsx", programSource("ask-dhcp.ts"), String(family), "eth0", address] as const;
    return (JSON.parse(await host.runOrThrow(argv, { cwd: ROOT })) as { answered: boolean | string }).answered;
  };
  const leases = (): string => readFileSync(host.path("dhcpd-eth0.leases"), "utf8");

  it.each(Object.entries(CONFIGS))("it does, in mode %s, and takes nothing down", async (_, config) => {
    await startDhcpd(host, config);
    const before = leases();
    expect([await ask(), await ask()]).toEqual([true, true]);
    expect(leases()).toBe(before);
  });

  it("it does not while it is stopped, on an interface made anew, or when it is gone", async () => {
    const dhcpd = await startDhcpd(host, CONFIGS.static);
    dhcpd.kill("SIGSTOP");
    expect(await ask()).toBe(false);
    dhcpd.kill("SIGCONT");
    await waitUntil(ask, { describe: "it answers again" });
    await host.ip("link", "del", "eth0");
    host.ports.delete("eth0");
    await host.connect(link, { interfaceName: "eth0", addresses: [`${RACK}/24`] });
    expect(await ask()).toBe(false);
    await dhcpd.stop();
    expect(await ask()).toBe(false);
    await host.ip("address", "flush", "dev", "eth0");
    expect(await ask()).toBe("dhcp-unaskable");
  });

  it("says in its log that it was asked where it may not answer", async () => {
    await startDhcpd(host, `not authoritative; ${STATIC}`);
    expect(await ask()).toBe(false);
    const heard = (address: string): boolean =>
      heardQuestion(readFileSync(host.path("dhcpd-eth0.log"), "utf8"), { link: "eth0", address: ipAddress(address) });
    expect([heard(RACK), heard("192.168.50.2")]).toEqual([true, false]);
  });

  it("works on IPv6, and the answer of another server is none", async () => {
    const other = lab.host("peer");
    await other.ip("address", "add", "fd50:1::2/64", "dev", "eth0", "nodad");
    const config = "subnet6 fd50:1::/64 { range6 fd50:1::100 fd50:1::1ff; }";
    await startDhcpd6(other, config);
    expect(await ask(6, "fd50:1::1")).toBe(false);
    const dhcpd = await startDhcpd6(host, config);
    expect(await ask(6, "fd50:1::1")).toBe(true);
    dhcpd.kill("SIGSTOP");
    expect(await ask(6, "fd50:1::1")).toBe(false);
    dhcpd.kill("SIGCONT");
  });
});
