import { describe, expect, it } from "vitest";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import { findRackLinks } from "./find-rack-links.js";
import { parseInterfaces } from "./parse-interfaces.js";

const subnets = [{ id: 7, prefix: ipPrefix("192.168.50.0/24") }];

function interfacesOf(text: string) {
  const parsed = parseInterfaces(text);
  if (!parsed.ok) throw new Error("the test's own text is not readable");
  return parsed.value;
}

describe("findRackLinks", () => {
  // keepalived added a VIP with the subnet's own mask first, so the kernel lists it first and it looks like any other address.
  const aliased = interfacesOf(`2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP
    link/ether 02:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff
    inet 192.168.50.5/24 scope global eth0
    inet 192.168.50.9/24 scope global secondary eth0
`);

  it("finds the interface with the rack's own address", () => {
    expect(findRackLinks(subnets, aliased).links).toEqual([{ name: "eth0", subnetId: 7, address: "192.168.50.5" }]);
  });

  it("never takes an address that the region knows to be virtual", () => {
    const ledgerVips = new Set([ipAddress("192.168.50.5")]);
    expect(findRackLinks(subnets, aliased, { ledgerVips }).links).toEqual([
      { name: "eth0", subnetId: 7, address: "192.168.50.9" },
    ]);
  });

  it("leaves a subnet out that this rack is not on", () => {
    expect(findRackLinks([{ id: 8, prefix: ipPrefix("192.168.51.0/24") }], aliased).links).toEqual([]);
  });

  it("finds where the messages of a relayed subnet arrive, unless the rack is on it itself", () => {
    const relay = { server: ipAddress("192.168.50.5") };
    const far = { id: 8, prefix: ipPrefix("10.70.0.0/24"), relay };
    expect(findRackLinks([{ ...far, id: 9, relay: { server: ipAddress("10.0.0.1") } }, far], aliased)).toEqual({
      links: [],
      relays: [{ name: "eth0", subnetId: 8, address: "192.168.50.5", network: "192.168.50.0/24" }],
    });
    expect(findRackLinks([{ ...far, prefix: ipPrefix("192.168.50.0/24") }], aliased).relays).toBeUndefined();
  });
});
