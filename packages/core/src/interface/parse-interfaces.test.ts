import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import type { HostInterface } from "./model.js";
import { parseInterfaces } from "./parse-interfaces.js";
import { parseNeighbors } from "./parse-neighbors.js";
import { parseRoutes } from "./parse-routes.js";

const fixture = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../test/fixtures/interfaces/${name}`, import.meta.url)), "utf8");

function parsed(text: string): readonly HostInterface[] {
  const result = parseInterfaces(text);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}

function named(interfaces: readonly HostInterface[], name: string): HostInterface {
  const found = interfaces.find((entry) => entry.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

describe("ip -json -details address", () => {
  it("keeps prefix length, label, flags and lifetimes of every address", () => {
    const [, eth0] = parsed(fixture("120-ipv4-deprecated-lifetime-lies.json"));
    expect(eth0?.addresses[1]).toMatchObject({
      address: "192.168.0.30",
      prefixLength: 24,
      flags: ["secondary", "deprecated", "noprefixroute"],
      validLifetime: null,
      preferredLifetime: null,
    });
  });

  it("skips empty objects and survives missing keys", () => {
    const interfaces = parsed(fixture("123-json-empty-objects.json"));
    expect(interfaces.map((entry) => entry.name)).toEqual(["lo", "eth0"]);
    expect(named(interfaces, "eth0").addresses.map((entry) => entry.address)).toEqual(["192.168.0.11", "192.168.0.28"]);
    expect(named(interfaces, "eth0").hardwareAddress).toBeNull();
  });

  it("knows the slaves of a bond by their permanent addresses", () => {
    const interfaces = parsed(fixture("124-bond-slaves-same-mac.json"));
    expect(interfaces.map((entry) => [entry.name, entry.hardwareAddress, entry.parent])).toEqual([
      ["lo", null, null],
      ["eno1", "02:00:00:00:00:0a", "bond0"],
      ["eno2", "02:00:00:00:00:0b", "bond0"],
      ["bond0", "02:00:00:00:00:0a", null],
    ]);
  });

  it("keeps the links between bridge, port and VLANs", () => {
    const interfaces = parsed(fixture("125-bridge-vlan-share-mac.json"));
    expect(interfaces.map((entry) => [entry.name, entry.parent, entry.vlanId])).toEqual([
      ["lo", null, null],
      ["eth0", "br0", null],
      ["br0", null, null],
      ["br0.100", "br0", 100],
      ["eth0.200", "eth0", 200],
    ]);
  });

  it("keeps the 20 octets of an IPoIB address", () => {
    const ib0 = named(parsed(fixture("126-ipoib-20-byte.json")), "ib0");
    expect(ib0.hardwareAddress?.split(":")).toHaveLength(20);
  });

  it("tells a peer address from a /32", () => {
    const text = '[{"ifname":"eth0","addr_info":[{"local":"10.9.0.1","address":"10.9.0.2","prefixlen":32,"scope":"global"}]}]';
    expect(parsed(text)[0]?.addresses[0]).toMatchObject({ address: "10.9.0.1", peer: "10.9.0.2", prefixLength: 32 });
  });

  it("stops at the end of the list, whatever follows", () => {
    const text = `${fixture("101-vip-listed-first-and-lower.json")}Dump was interrupted and may be inconsistent. ]`;
    expect(parsed(text)).toHaveLength(2);
  });

  it("reads what a release prints that forgets values and commas", () => {
    const text =
      '[{"ifname":"gre1","linkinfo":{"info_kind":"ip6erspan","info_data":{"erspan_hwid"}},"addr_info":[]},{"ifname":"eth0","addr_info":[{"local":"10.0.0.4","prefixlen":24,},]},]';
    expect(parsed(text).map((entry) => [entry.name, entry.addresses.length])).toEqual([
      ["gre1", 0],
      ["eth0", 1],
    ]);
  });

  it.each(["[", '[{"ifname": "eth0"', "[}]", '["', '[{"ifname":"eth0","addr_info":[{}]', "garbage", "{}"])(
    "refuses %j",
    (text) => {
      expect(parseInterfaces(text)).toMatchObject({ ok: false, problems: [{ code: "ip-output-unreadable" }] });
    },
  );

  it("drops an address it cannot read and keeps the others", () => {
    const addresses =
      '[{"local":"10.0.0.300","prefixlen":24},{"local":"10.0.0.3","prefixlen":64},{"local":"10.0.0.4","prefixlen":24}]';
    const [eth0] = parsed(`[{"ifname":"eth0","addr_info":${addresses}}]`);
    expect(eth0?.addresses.map((entry) => entry.address)).toEqual(["10.0.0.4"]);
  });

  property.prop([fc.json({ maxDepth: 4 }), fc.string()])("never throws, whatever the list holds", (json, tail) => {
    parseInterfaces(`[${json}]${tail}`);
    parseInterfaces(`[{"ifname":"eth0","flags":${json},"addr_info":[${json}],"linkinfo":${json}}]`);
    parseInterfaces(tail);
  });
});

describe("ip addr as text", () => {
  it("reads names, parents, labels, peers and lifetimes", () => {
    const interfaces = parsed(fixture("130-text-ip-addr.txt"));
    expect(interfaces.map((entry) => [entry.name, entry.parent])).toEqual([
      ["lo", null],
      ["ens4", null],
      ["ens4.100", "ens4"],
      ["tun0", null],
      ["veth0", "br0"],
    ]);
    expect(named(interfaces, "ens4").addresses[0]).toEqual({
      address: "192.168.0.11",
      prefixLength: 24,
      peer: null,
      broadcast: "192.168.0.255",
      scope: "global",
      label: "ens4",
      flags: ["dynamic"],
      protocol: null,
      validLifetime: 2763,
      preferredLifetime: 2763,
    });
    expect(named(interfaces, "ens4").addresses[3]).toMatchObject({ flags: ["nodad", "deprecated"], preferredLifetime: 0 });
    expect(named(interfaces, "tun0").addresses[0]).toMatchObject({ address: "10.9.8.66", peer: "10.9.8.65", prefixLength: 32 });
    expect(named(interfaces, "tun0").hardwareAddress).toBeNull();
    expect(named(interfaces, "lo").hardwareAddress).toBeNull();
    expect(named(interfaces, "ens4").flags).toContain("LOWER_UP");
  });

  it("groups the one-line form by interface and invents nothing", () => {
    const interfaces = parsed(fixture("131-text-oneline.txt"));
    expect(
      interfaces.map((entry) => [entry.name, entry.index, entry.flags, entry.hardwareAddress, entry.addresses.length]),
    ).toEqual([
      ["lo", 1, [], null, 1],
      ["eth0", 2, [], null, 4],
      ["tun0", 4, [], null, 1],
    ]);
    expect(named(interfaces, "eth0").addresses[2]?.flags).toEqual(["secondary", "deprecated", "noprefixroute"]);
  });

  it("takes the word after proto for the protocol, not for the label", () => {
    const [eth0] = parsed(fixture("135-newer-iproute2-text-proto.txt"));
    expect(eth0?.addresses.map((entry) => [entry.label, entry.protocol, entry.flags])).toEqual([
      ["eth0", null, ["noprefixroute"]],
      [null, "kernel_ra", ["dynamic", "mngtmpaddr"]],
      [null, "kernel_ll", []],
    ]);
  });

  it("does not mind colours", () => {
    const [eth0] = parsed(
      "2: \u001b[36meth0: \u001b[0m<UP> mtu 1500\n    inet \u001b[35m10.0.0.5\u001b[0m/24 scope global eth0\n",
    );
    expect(eth0).toMatchObject({ name: "eth0", addresses: [{ address: "10.0.0.5", prefixLength: 24 }] });
  });

  it("reads the kind and the VLAN from the detail line", () => {
    const [vlan] = parsed(
      "7: eth0.7@eth0: <UP> mtu 1500 master br7\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0\n    vlan protocol 802.1Q id 7 <REORDER_HDR> numtxqueues 1\n",
    );
    expect(vlan).toMatchObject({ kind: "vlan", vlanId: 7, parent: "eth0" });
  });
});

describe("routes and neighbours", () => {
  it("reads routes as JSON and as text alike", () => {
    const json =
      '[{"dst":"default","gateway":"192.0.2.1","dev":"eth0","protocol":"dhcp","prefsrc":"192.0.2.7","metric":100,"flags":[]},{"dst":"192.0.2.0/24","dev":"eth0","protocol":"kernel","scope":"link","prefsrc":"192.0.2.7","flags":[]},{"type":"blackhole","dst":"10.0.0.0/8"}]\n[{"dst":"default","gateway":"fe80::1","dev":"eth0"}]';
    const text =
      "default via 192.0.2.1 dev eth0 proto dhcp src 192.0.2.7 metric 100 \n192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.7 \nblackhole 10.0.0.0/8\ndefault via fe80::1 dev eth0\n";
    const routes = parseRoutes(json);
    expect(routes).toEqual(parseRoutes(text));
    expect(routes.ok && routes.value.map((route) => route.destination)).toEqual(["0.0.0.0/0", "192.0.2.0/24", "::/0"]);
  });

  it("leaves out routes of other types, as members without a value too", () => {
    const text =
      '[{"broadcast","dst":"10.0.0.255","dev":"eth0"},{"type":"local","dst":"10.0.0.5"},{"dst":"10.0.0.0/24","dev":"eth0"}]';
    const routes = parseRoutes(text);
    expect(routes.ok && routes.value.map((route) => route.destination)).toEqual(["10.0.0.0/24"]);
  });

  it("leaves out neighbours that never answered", () => {
    const text =
      '[{"dst":"192.0.2.1","dev":"eth0","lladdr":"02:FC:00:00:00:05","state":["STALE"]},{"dst":"fd00::1","dev":"eth0","state":["FAILED"]}]';
    expect(parseNeighbors(text)).toMatchObject({
      ok: true,
      value: [{ address: "192.0.2.1", hardwareAddress: "02:fc:00:00:00:05" }],
    });
  });
});
