import { describe, expect, it } from "vitest";
import { hardwareAddress, linkAt, subnetOf } from "../../../../test/fixtures/dhcpd/subnet.js";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import type { DesiredHost, DesiredSubnet } from "../desired/schema.js";
import { assert } from "../problem.js";
import { compileDhcpd6 } from "./compile6.js";
import type { Dhcpd6Config } from "./config6.js";
import { renderDhcpd6 } from "./render6.js";

const range = (first: string, last: string): { first: ReturnType<typeof ipAddress>; last: ReturnType<typeof ipAddress> } => ({
  first: ipAddress(first),
  last: ipAddress(last),
});
const host = (number: number, address: string): DesiredHost => ({
  hardwareAddress: hardwareAddress(number),
  address: ipAddress(address),
  name: `m${number}.example.test`,
});
const subnet6 = (members: Partial<DesiredSubnet>): DesiredSubnet =>
  subnetOf({ prefix: ipPrefix("fd50:1::/64"), gateway: null, dns: [ipAddress("fd50:1::1")], mode: "static", ...members });
const windowed = subnet6({ mode: "window", window: range("fd50:1::1", "fd50:1::10") });
const eth0 = { links: [linkAt("eth0", 1, "fd50:1::1")] };

function compiled(subnets: readonly DesiredSubnet[], links = eth0): Dhcpd6Config {
  const config = compileDhcpd6({ subnets: [...subnets] }, links);
  assert(config.ok, config.ok ? "" : JSON.stringify(config.problems));
  return config.value;
}

function codes(subnets: readonly DesiredSubnet[], links = eth0): string[] {
  const config = compileDhcpd6({ subnets: [...subnets] }, links);
  return (config.ok ? config.value.warnings : config.problems).map(({ code }) => code);
}

describe("compileDhcpd6", () => {
  it("takes out of the window all that is somebody's: own, excluded, hosts, servers", () => {
    const subnet = {
      ...windowed,
      excluded: [ipAddress("fd50:1::3")],
      excludedRanges: [range("fd50:1::6", "fd50:1::9")],
      hosts: [host(1, "fd50:1::b")],
      ntp: [ipAddress("fd50:1::10")],
    };
    expect(compiled([subnet]).sharedNetworks[0]?.subnets[0]?.ranges).toEqual([
      range("fd50:1::2", "fd50:1::2"),
      range("fd50:1::4", "fd50:1::5"),
      range("fd50:1::a", "fd50:1::a"),
      range("fd50:1::c", "fd50:1::f"),
    ]);
  });

  it("serves nothing on IPv4, in mode off and in mode observe", () => {
    const v4 = subnetOf({ id: 2, mode: "static" });
    const links = { links: [...eth0.links, linkAt("eth0", 2, "192.168.50.1")] };
    for (const mode of ["off", "observe"] as const) {
      const config = compiled([v4, subnet6({ mode, window: windowed.window })], links);
      expect(config).toEqual({ sharedNetworks: [], hosts: [], interfaces: [], warnings: [] });
    }
  });

  it("is authoritative only where all of the wire is the rack's", () => {
    const second = subnet6({ id: 2, prefix: ipPrefix("fd50:2::/64"), mode: "observe" });
    const links = { links: [...eth0.links, linkAt("eth0", 2, "fd50:2::1")] };
    expect(renderDhcpd6(compiled([windowed, second], links))).toContain("  not authoritative;");
    expect(renderDhcpd6(compiled([windowed, { ...second, mode: "static" }], links))).toContain("  authoritative;");
  });

  it("names what it leaves out and serves the rest", () => {
    expect(codes([subnet6({ mode: "link-local", enlistment: null })])).toEqual(["enlistment-missing"]);
    const enlistment = { slice: ipPrefix("169.254.16.0/20"), leaseTime: 60 };
    expect(codes([subnet6({ mode: "link-local", enlistment })])).toEqual(["dhcp6-no-enlistment"]);
    expect(codes([subnet6({ dhcp: { mtu: 9000, snippet: "" } })])).toEqual(["dhcp6-setting-not-served"]);
    expect(codes([windowed], { links: [] })).toEqual(["subnet-without-link"]);
    const relayed = subnet6({ id: 2, prefix: ipPrefix("fd50:2::/64"), relay: { server: ipAddress("fd50:1::1") } });
    expect(codes([windowed, relayed])).toEqual(["dhcp6-relay-not-served"]);
    expect(codes([{ ...windowed, excludedRanges: [range("fd50:1::", "fd50:1::ff")] }])).toEqual(["window-empty"]);
    const infiniband = {
      ...host(1, "fd50:1::b"),
      hardwareAddress: "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:07:e1:f1",
    };
    expect(codes([subnet6({ hosts: [infiniband as DesiredHost, host(2, "fd50:1::c")] })])).toEqual(["dhcp6-hardware-unmatched"]);
  });

  it.each<[string, DesiredSubnet]>([
    ["window-missing", { ...windowed, window: null }],
    ["window-outside-subnet", { ...windowed, window: range("fd50:2::1", "fd50:2::2") }],
    ["window-inverted", { ...windowed, window: range("fd50:1::9", "fd50:1::2") }],
    ["window-has-network-or-broadcast", { ...windowed, window: range("fd50:1::", "fd50:1::2") }],
    ["fixed-address-outside-subnet", subnet6({ hosts: [host(1, "fd50:2::1")] })],
    ["fixed-address-not-usable", subnet6({ hosts: [host(1, "fd50:1::")] })],
    ["host-duplicate", subnet6({ hosts: [host(1, "fd50:1::5"), host(1, "fd50:1::6")] })],
    ["fixed-address-duplicate", subnet6({ hosts: [host(1, "fd50:1::5"), host(2, "fd50:1::5")] })],
    ["lease-time-above-max", subnet6({ leaseTime: 9000 })],
  ])("refuses %s", (code, subnet) => {
    expect(compileDhcpd6({ subnets: [subnet] }, eth0).ok).toBe(false);
    expect(codes([subnet])).toEqual([code]);
  });
});
