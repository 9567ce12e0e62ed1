import { expect, it } from "vitest";
import { hardwareAddress } from "../../../../test/fixtures/dhcpd/subnet.js";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import type { Dhcpd6Config, DhcpdHost6, SubnetDeclaration6 } from "./config6.js";
import { reviewDhcpd6 } from "./review6.js";

const SUBNET: SubnetDeclaration6 = {
  subnetId: 1,
  prefix: ipPrefix("fd50:1::/64"),
  ownAddress: ipAddress("fd50:1::1"),
  domainNameServers: [],
  domainSearch: [],
  sntpServers: [],
  leaseTimes: { min: 300, usual: 600, max: 900 },
  ranges: [{ first: ipAddress("fd50:1::10"), last: ipAddress("fd50:1::1f") }],
};
const HOST: DhcpdHost6 = {
  name: "s1-a",
  subnetId: 1,
  hardwareAddress: hardwareAddress(1),
  fixedAddress: ipAddress("fd50:1::5"),
};
const OTHER = { ...HOST, name: "s1-b", hardwareAddress: hardwareAddress(2) };

function codes(subnets: readonly SubnetDeclaration6[], hosts: readonly DhcpdHost6[] = []): string[] {
  const config: Dhcpd6Config = {
    sharedNetworks: [{ name: "eth0", authoritative: true, subnets }],
    hosts,
    interfaces: ["eth0"],
    warnings: [],
  };
  return reviewDhcpd6(config).map(({ code }) => code);
}

const ranges = (...pairs: readonly [string, string][]): SubnetDeclaration6 => ({
  ...SUBNET,
  ranges: pairs.map(([first, last]) => ({ first: ipAddress(first), last: ipAddress(last) })),
});

it("finds nothing in a sound configuration", () => {
  expect(codes([SUBNET], [HOST, OTHER])).toEqual([]);
});

it.each<[string, SubnetDeclaration6[], DhcpdHost6[]]>([
  ["subnet-duplicate", [SUBNET, { ...SUBNET, subnetId: 2 }], []],
  ["subnet-overlap", [SUBNET, { ...SUBNET, subnetId: 2, prefix: ipPrefix("fd50:1::/48") }], []],
  ["lease-times-inverted", [{ ...SUBNET, leaseTimes: { min: 700, usual: 600, max: 900 } }], []],
  ["range-outside-subnet", [ranges(["fd50:2::1", "fd50:2::2"])], []],
  ["range-inverted", [ranges(["fd50:1::9", "fd50:1::2"])], []],
  ["range-overlap", [ranges(["fd50:1::2", "fd50:1::5"], ["fd50:1::5", "fd50:1::6"])], []],
  ["own-address-outside-subnet", [{ ...SUBNET, ownAddress: ipAddress("fd50:2::1") }], []],
  ["own-address-in-range", [ranges(["fd50:1::1", "fd50:1::2"])], []],
  ["host-name-duplicate", [SUBNET], [HOST, { ...OTHER, name: HOST.name }]],
  ["host-duplicate", [SUBNET], [HOST, { ...OTHER, hardwareAddress: HOST.hardwareAddress }]],
  ["fixed-address-outside-subnet", [SUBNET], [{ ...HOST, fixedAddress: ipAddress("fd50:2::5") }]],
  ["fixed-address-in-range", [SUBNET], [{ ...HOST, fixedAddress: ipAddress("fd50:1::1f") }]],
])("finds %s", (code, subnets, hosts) => {
  expect(codes(subnets, hosts)).toEqual([code]);
});
