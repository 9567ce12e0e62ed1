import { classify, mergeByAddress, parseInterfaces, type HostInterface } from "@berth/core";
import { systemCommands } from "@berth/host";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  observeInterfaces,
  observeNeighbors,
  observeRoutes,
} from "../../../packages/agent/src/observe/interfaces/observe-interfaces.js";
import type { Host } from "../host.js";
import { createLab, type Lab } from "../lab.js";
import { requireTools } from "../require-tools.js";
import { waitUntil } from "../wait-until.js";

/** Links of every kind that a plain kernel has, with every mark that ip-address(8) can set on an address. */
const LINKS = [
  "link add br0 type bridge",
  "link add link eth0 name mv0 type macvlan mode bridge",
  "link add vx0 type vxlan id 5 dstport 4789 dev eth0",
  "link add va type veth peer name vb",
  "link set vb master br0",
  "tuntap add tun0 mode tun",
  ...["br0", "mv0", "vx0", "va", "vb", "tun0"].flatMap((name) => [`link set ${name} addrgenmode none`, `link set ${name} up`]),
];
const ADDRESSES = [
  "address add 192.168.50.9/32 dev eth0 label eth0:vip",
  "address add 192.168.50.11/24 brd + dev eth0",
  "address add 192.168.50.12/24 brd + dev eth0 label eth0:1",
  "address add 192.168.50.13/24 brd + dev eth0 preferred_lft 0",
  "address add 192.168.50.14/32 brd 192.168.50.255 dev eth0",
  "address add 192.168.50.11/32 dev eth0",
  "address add 10.9.0.1 peer 10.9.0.2/32 dev br0",
  "address add 10.8.0.1/24 dev mv0 noprefixroute metric 200",
  "address add 10.7.0.1/24 dev vx0",
  "address add 10.6.0.1/32 dev tun0",
  "address add 10.5.0.1/32 dev lo",
  "address add 2001:db8:50::11/64 dev eth0 nodad",
  "address add 2001:db8:50::50/128 dev eth0 nodad preferred_lft 0",
  "address add 2001:db8:50::51/64 dev eth0 nodad noprefixroute",
];

describe("a host with every kind of link and address", () => {
  let lab: Lab;
  let host: Host;
  let interfaces: readonly HostInterface[];
  const commands = () => ({
    run: (argv: readonly [string, ...string[]]) => systemCommands.run(host.command(argv)),
  });

  beforeAll(async () => {
    requireTools(["ip"]);
    lab = await createLab({ name: "vip-kinds" });
    const link = await lab.addLink("one");
    host = await lab.addHost("rack1");
    await host.connect(link, {});
    await host.runOrThrow(["ip", "-batch", "-"], { input: [...LINKS, ...ADDRESSES].map((line) => `${line}\n`).join("") });
    // eth0's own link-local address passes its duplicate check first, so that several looks see the same.
    interfaces = await waitUntil(() => observeInterfaces(commands()), {
      describe: "no address is tentative any more",
      until: (seen) => seen.every((entry) => entry.addresses.every((address) => !address.flags.includes("tentative"))),
    });
  });
  afterAll(() => lab.close());

  it("is seen the same in JSON and in text", async () => {
    const text = parseInterfaces(await host.runOrThrow(["ip", "-details", "address"]));
    expect(text).toEqual({ ok: true, value: interfaces });
  });

  it("has the same addresses in the one-line form", async () => {
    const lines = parseInterfaces(await host.runOrThrow(["ip", "-oneline", "address"]));
    const addresses = (seen: readonly HostInterface[]) =>
      seen.filter((entry) => entry.addresses.length > 0).map(({ name, addresses: own }) => [name, own]);
    expect(lines.ok && addresses(lines.value)).toEqual(addresses(interfaces));
  });

  it("keeps parents, kinds and flags", () => {
    const by = new Map(interfaces.map((entry) => [entry.name, entry]));
    expect([...by.values()].map(({ name, kind, parent }) => [name, kind, parent]).sort()).toEqual([
      ["br0", "bridge", null],
      ["eth0", "veth", null],
      ["lo", null, null],
      ["mv0", "macvlan", "eth0"],
      ["tun0", "tun", null],
      ["va", "veth", null],
      ["vb", "veth", "br0"],
      ["vx0", "vxlan", null],
    ]);
    const flagged = by.get("eth0")?.addresses.map(({ address, prefixLength, flags }) => [`${address}/${prefixLength}`, ...flags]);
    expect(flagged).toContainEqual(["192.168.50.13/24", "secondary", "deprecated"]);
    const deprecated = flagged?.find(([cidr]) => cidr === "2001:db8:50::50/128");
    expect(deprecated).toEqual(expect.arrayContaining(["nodad", "deprecated"]));
    expect(by.get("br0")?.addresses[0]).toMatchObject({ address: "10.9.0.1", peer: "10.9.0.2", prefixLength: 32 });
  });

  it("is judged", () => {
    const { verdicts, publish } = classify(interfaces);
    const classes = Object.fromEntries([...mergeByAddress(verdicts)].map(([address, verdict]) => [address, verdict.class]));
    expect(classes).toMatchObject({
      ...{
        "192.168.50.11": "real",
        "192.168.50.12": "real",
        "10.8.0.1": "real",
        "2001:db8:50::11": "real",
        "2001:db8:50::51": "real",
      },
      ...{ "192.168.50.9": "vip", "192.168.50.13": "vip", "192.168.50.14": "vip", "10.5.0.1": "vip", "2001:db8:50::50": "vip" },
      ...{ "10.9.0.1": "p2p", "10.7.0.1": "p2p", "10.6.0.1": "p2p" },
    });
    expect(publish).toEqual(["192.168.50.11", "192.168.50.12", "10.8.0.1", "2001:db8:50::11", "2001:db8:50::51"]);
  });

  it("tells its routes and neighbours", async () => {
    const mac = "02:be:00:00:ff:01";
    await host.ip("neigh", "add", "192.168.50.77", "lladdr", mac, "dev", "eth0");
    expect(await observeNeighbors(commands())).toContainEqual({
      interfaceName: "eth0",
      address: "192.168.50.77",
      hardwareAddress: mac,
      states: ["PERMANENT"],
    });
    await host.ip("route", "add", "default", "via", "192.168.50.1", "src", "192.168.50.11");
    const routes = await observeRoutes(commands());
    expect(routes).toContainEqual(
      expect.objectContaining({ destination: "0.0.0.0/0", gateway: "192.168.50.1", preferredSource: "192.168.50.11" }),
    );
    expect(routes.map(({ destination }) => destination)).toEqual(expect.arrayContaining(["192.168.50.0/24", "2001:db8:50::/64"]));
  });
});
