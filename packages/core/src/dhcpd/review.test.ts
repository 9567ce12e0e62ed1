import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { badConfigs, goodConfig } from "../../../../test/fixtures/dhcpd/bad-configs.js";
import { ipAddress } from "../address/ip.js";
import { reviewDhcpd } from "./review.js";
import type { DhcpdConfig, FailoverPeer, SubnetDeclaration } from "./config.js";

function codes(config: DhcpdConfig): string[] {
  return [...new Set(reviewDhcpd(config).map((problem) => problem.code))];
}

function changed(members: Partial<SubnetDeclaration>): DhcpdConfig {
  const [network] = goodConfig.sharedNetworks;
  const [subnet] = network?.subnets ?? [];
  if (network === undefined || subnet === undefined) throw new Error("the good configuration has a subnet");
  return { ...goodConfig, sharedNetworks: [{ ...network, subnets: [{ ...subnet, ...members }] }] };
}

describe("our own review", () => {
  it("finds nothing in a good configuration", () => {
    expect(codes(goodConfig)).toEqual([]);
  });

  it("covers what the case bank measured", () => {
    const path = new URL("../../../../test/fixtures/dhcpd/204-dhcpd-t-is-not-enough.json", import.meta.url);
    const { given } = JSON.parse(readFileSync(path, "utf8")) as { given: { bad: string[] } };
    expect(badConfigs.map(([name]) => name).sort()).toEqual(given.bad.toSorted());
  });

  it.each(badConfigs)("rejects %s as %s", (_name, code, config) => {
    expect(codes(config)).toContain(code);
  });

  it.each([
    [
      "range-overlap",
      { pools: [{ ranges: [10, 15].map((n) => ({ first: ipAddress(`192.0.2.${n}`), last: ipAddress(`192.0.2.${n + 5}`) })) }] },
    ],
    ["range-outside-subnet", { pools: [{ ranges: [{ first: ipAddress("192.0.2.250"), last: ipAddress("192.0.3.4") }] }] }],
    ["own-address-in-range", { pools: [{ ranges: [{ first: ipAddress("192.0.2.1"), last: ipAddress("192.0.2.4") }] }] }],
    ["pool-empty", { pools: [{ ranges: [] }] }],
    ["lease-times-inverted", { leaseTimes: { min: 300, usual: 200, max: 600 } }],
    ["server-identifier-outside-subnet", { serverIdentifier: ipAddress("198.51.100.1") }],
  ] as const)("says %s", (code, members) => {
    expect(codes(changed(members))).toEqual([code]);
  });

  it("names hosts that share a hardware address within a subnet, and a subnet whose hosts come twice", () => {
    const [group] = goodConfig.hosts;
    const [host] = group?.hosts ?? [];
    if (group === undefined || host === undefined) throw new Error("the good configuration has a host");
    const twice = { ...group, hosts: [host, { ...host, address: ipAddress("192.0.2.10") }] };
    expect(codes({ ...goodConfig, hosts: [twice] })).toEqual(["host-duplicate"]);
    expect(codes({ ...goodConfig, hosts: [group, group] })).toEqual(["host-group-duplicate"]);
  });
});

describe("the review of failover pairs", () => {
  const peer: FailoverPeer = {
    name: "s1",
    role: "primary",
    address: ipAddress("192.0.2.1"),
    partner: ipAddress("192.0.2.2"),
    port: 647,
    mclt: 60,
    split: 128,
  };
  const pools = [{ ranges: [{ first: ipAddress("192.0.2.100"), last: ipAddress("192.0.2.110") }] }];
  const withPeers = (failovers: DhcpdConfig["failovers"], members: Partial<SubnetDeclaration> = {}): DhcpdConfig => ({
    ...changed({ pools, failover: "s1", ...members }),
    failovers,
  });

  it("takes one that is declared once and used", () => {
    expect(codes(withPeers([peer]))).toEqual([]);
  });

  it.each<[string, DhcpdConfig]>([
    ["failover-undefined", withPeers([])],
    ["failover-unused", withPeers([peer], { failover: null })],
    ["failover-unused", withPeers([peer], { pools: [] })],
    ["failover-duplicate failover-partner-duplicate", withPeers([peer, peer])],
    ["failover-self", withPeers([{ ...peer, partner: peer.address }])],
    ["failover-family", withPeers([{ ...peer, partner: ipAddress("2001:db8::1") }])],
    ["failover-split", withPeers([{ ...peer, split: 257 }])],
    ["failover-mclt", withPeers([{ ...peer, mclt: 0 }])],
  ])("says %s", (expected, config) => {
    expect(codes(config).join(" ")).toBe(expected);
  });
});
