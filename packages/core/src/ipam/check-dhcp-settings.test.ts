import { describe, expect, it } from "vitest";
import { Desk, nic } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import { changeSubnet } from "./declare-subnet.js";
import type { SubnetRequest } from "./request.js";

const PREFIX = "192.168.50.0/24";
const window = { first: ipAddress("192.168.50.200"), last: ipAddress("192.168.50.202") };

function refusals(request: Partial<SubnetRequest>, desk = new Desk()): string[] {
  const declared = desk.declare({ prefix: PREFIX, ...request });
  if (declared.ok) return [];
  expect(declared.problems.filter(({ remedy }) => remedy === undefined)).toEqual([]);
  return declared.problems.map(({ code, at }) => `${code} ${at}`);
}

describe("DHCP settings of a subnet", () => {
  it.each<[string, Partial<SubnetRequest>]>([
    ["router-outside-subnet dhcp", { dhcp: { routers: [ipAddress("10.0.0.1")] } }],
    ["router-in-window dhcp.routers", { mode: "window", window, dhcp: { routers: [ipAddress("192.168.50.201")] } }],
    ["router-outside-subnet dhcp", { dhcp: { routes: [{ prefix: ipPrefix("10.0.0.0/8"), via: ipAddress("10.0.0.1") }] } }],
    ["route-family dhcp", { dhcp: { routes: [{ prefix: ipPrefix("2001:db8::/32"), via: ipAddress("192.168.50.1") }] } }],
    ["option-not-an-ipv4-address dhcp", { dhcp: { options: { "log-servers": [ipAddress("2001:db8::1")] } } }],
    ["option-not-an-ipv4-address dhcp", { dhcp: { boot: { nextServer: ipAddress("2001:db8::1"), bios: "x" } } }],
    ["boot-file-too-long dhcp", { dhcp: { boot: { bios: `{rack}/${"x".repeat(119)}` } } }],
    ["option-too-long dhcp", { dhcp: { domainSearch: Array.from({ length: 9 }, (_, n) => `${"x".repeat(25)}${n}.test`) } }],
    ["lease-times-inverted dhcp.minLeaseTime", { dhcp: { minLeaseTime: 700 } }],
    ["failover-window-small window", { mode: "window", window, dhcp: { failover: {} } }],
    ["relay-server-inside dhcp.relay", { dhcp: { relay: { servers: [ipAddress("192.168.50.1")] } } }],
    ["relay-family dhcp.relay", { dhcp: { relay: { servers: [ipAddress("2001:db8::1")] } } }],
    ["relay-link-local dhcp.relay", { mode: "link-local", dhcp: { relay: { servers: [ipAddress("10.0.0.1")] } } }],
    ["snippet-forbidden dhcp snippet line 2", { dhcp: { snippet: "\nrange 192.168.50.1;" } }],
    ["snippet-unbalanced dhcp snippet line 1", { dhcp: { snippet: "}" } }],
  ])("%s: %j", (expected, request) => {
    expect(refusals(request)).toEqual([expected]);
  });

  it("keep routers from machines, and machines from becoming routers", () => {
    const desk = new Desk();
    expect(refusals({ dhcp: { routers: [ipAddress("192.168.50.1"), ipAddress("192.168.50.3")] } }, desk)).toEqual([]);
    const first = desk.enroll({ nics: [nic(1)], subnet: "1" });
    expect(first).toMatchObject({ value: { allocation: { address: "192.168.50.2" } } });
    expect(desk.enroll({ nics: [nic(2)], subnet: "1", address: ipAddress("192.168.50.3") })).toMatchObject({
      problems: [{ code: "address-is-gateway" }],
    });
    const change = { dhcp: { routers: [ipAddress("192.168.50.2")] } };
    expect(changeSubnet(desk.state, { id: 1, change }, desk.now)).toMatchObject({ problems: [{ code: "router-allocated" }] });
  });

  it("change as far as they are named; null takes one away, and the last one all", () => {
    const desk = new Desk();
    desk.declare({ prefix: PREFIX, dhcp: { mtu: 9000, boot: { bios: "a" } } });
    const change = (dhcp: SubnetRequest["dhcp"] & object): unknown => {
      const changed = changeSubnet(desk.state, { id: 1, change: { dhcp } }, desk.now);
      if (!changed.ok) throw new Error(JSON.stringify(changed.problems));
      return changed.value.value.dhcp;
    };
    expect(change({ domainSearch: ["a.test"] })).toEqual({ boot: { bios: "a" }, domainSearch: ["a.test"], mtu: 9000 });
    expect(change({ mtu: null })).toEqual({ boot: { bios: "a" } });
    expect(change({ mtu: null, boot: null })).toBeUndefined();
  });
});
