import { describe, expect, it } from "vitest";
import { hardwareAddress, linkAt, subnetOf } from "../../../../test/fixtures/dhcpd/subnet.js";
import { checkDhcpd, compileDhcpd, servedInterfaces } from "./compile.js";
import { enlistmentAddress, enlistmentRanges } from "./enlistment.js";
import { renderDhcpd } from "./dhcpd-file.js";
import { ipAddress } from "../address/ip.js";
import { readFileSync } from "node:fs";
import { ipPrefix } from "../address/prefix.js";
import { ipAddressSchema } from "../desired/schema.js";
import type { DesiredSubnet } from "../desired/schema.js";
import type { RackLinks } from "./rack-links.js";

const eth0: RackLinks = { links: [linkAt("eth0", 1, "192.168.50.1")] };
const windowed = subnetOf({ mode: "window", window: { first: ipAddress("192.168.50.100"), last: ipAddress("192.168.50.109") } });

function text(subnets: readonly DesiredSubnet[], links = eth0): string {
  const config = compileDhcpd({ subnets: [...subnets] }, links);
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  return renderDhcpd(config.value);
}

function codes(subnets: readonly DesiredSubnet[], links = eth0): string[] {
  return checkDhcpd({ subnets: [...subnets] }, links).map((problem) => problem.code);
}

function warnings(subnets: readonly DesiredSubnet[], links = eth0): string[] {
  const config = compileDhcpd({ subnets: [...subnets] }, links);
  return config.ok ? config.value.warnings.map((problem) => problem.code) : ["refused"];
}

describe("modes", () => {
  it.each(["off", "observe"] as const)("renders nothing for %s", (mode) => {
    const subnet = subnetOf({
      mode,
      hosts: [{ hardwareAddress: hardwareAddress(1), address: ipAddress("192.168.50.9"), name: "m.example.test" }],
    });
    expect(text([subnet])).toBe(text([]));
    expect(servedInterfaces({ subnets: [subnet] }, eth0)).toEqual([]);
  });

  it("gives static subnets no pool", () => {
    const conf = text([subnetOf({ mode: "static" })]);
    expect(conf).toContain("subnet 192.168.50.0 netmask 255.255.255.0 {");
    expect(conf).not.toContain("pool");
    expect(servedInterfaces({ subnets: [subnetOf({ mode: "static" })] }, eth0)).toEqual(["eth0"]);
  });

  it("computes the window as declared minus everything that somebody has", () => {
    const conf = text([
      {
        ...windowed,
        gateway: ipAddress("192.168.50.100"),
        excluded: [ipAddress("192.168.50.102"), ipAddress("10.0.0.1"), ipAddress("2001:db8::1")],
        hosts: [{ hardwareAddress: hardwareAddress(1), address: ipAddress("192.168.50.104"), name: "m.example.test" }],
        dns: [ipAddress("192.168.50.106")],
        ntp: [ipAddress("192.168.50.109")],
      },
    ]);
    expect(conf.match(/range .*;/g)).toEqual([
      "range 192.168.50.101 192.168.50.101;",
      "range 192.168.50.103 192.168.50.103;",
      "range 192.168.50.105 192.168.50.105;",
      "range 192.168.50.107 192.168.50.108;",
    ]);
  });

  it("leaves out ranges as it does addresses, and refuses one that ends before it begins", () => {
    const excludedRanges = [{ first: ipAddress("192.168.50.90"), last: ipAddress("192.168.50.103") }];
    const conf = text([{ ...windowed, excluded: [ipAddress("192.168.50.105")], excludedRanges }]);
    expect(conf.match(/range .*;/g)).toEqual(["range 192.168.50.104 192.168.50.104;", "range 192.168.50.106 192.168.50.109;"]);
    for (const first of ["192.168.50.104", "2001:db8::1"]) {
      const odd = [{ first: ipAddress(first), last: ipAddress("192.168.50.103") }];
      expect(compileDhcpd({ subnets: [{ ...windowed, excludedRanges: odd }] }, eth0)).toMatchObject({
        problems: [{ code: "excluded-range-inverted", at: "subnet 192.168.50.0/24" }],
      });
    }
  });

  it("keeps the rack's own addresses out of the window", () => {
    const links = { links: [linkAt("eth0", 1, "192.168.50.105")] };
    expect(text([windowed], links).match(/range .*;/g)).toEqual([
      "range 192.168.50.100 192.168.50.104;",
      "range 192.168.50.106 192.168.50.109;",
    ]);
  });

  it("warns of a window that is used up, and writes no empty pool", () => {
    const subnet = {
      ...windowed,
      window: { first: ipAddress("192.168.50.100"), last: ipAddress("192.168.50.100") },
      excluded: [ipAddress("192.168.50.100")],
    };
    expect(warnings([subnet])).toEqual(["window-empty"]);
    expect(text([subnet])).not.toContain("pool");
  });

  it("splits large windows into pools of 4,096 with a statement of their own", () => {
    const prefix = ipPrefix("10.0.0.0/16");
    const links = { links: [linkAt("eth0", 1, "10.0.0.1")] };
    const conf = text(
      [
        {
          ...windowed,
          prefix,
          gateway: null,
          dns: [],
          ntp: [],
          window: { first: ipAddress("10.0.0.2"), last: ipAddress("10.0.255.254") },
        },
      ],
      links,
    );
    expect(conf.match(/pool \{\n +default-lease-time 600;\n +deny known-clients;/g)).toHaveLength(16);
    expect(conf).toContain("range 10.0.0.2 10.0.15.255;");
    expect(conf).toContain("range 10.0.240.0 10.0.255.254;");
  });
});

describe("link-local mode", () => {
  const subnet = subnetOf({ mode: "link-local", enlistment: { slice: ipPrefix("169.254.16.0/20"), leaseTime: 90 } });

  it("takes the first address of the slice for the rack", () => {
    expect(enlistmentAddress(subnet)).toEqual({ address: "169.254.16.1", prefixLength: 20 });
    expect(enlistmentAddress({ ...subnet, mode: "static" })).toBeNull();
  });

  it.each([
    [
      "169.254.0.0/20",
      "169.254.1.1",
      [
        ["169.254.1.0", "169.254.1.0"],
        ["169.254.1.2", "169.254.15.254"],
      ],
    ],
    [
      "169.254.160.0/20",
      "169.254.160.1",
      [
        ["169.254.160.2", "169.254.169.253"],
        ["169.254.169.255", "169.254.175.254"],
      ],
    ],
    ["169.254.240.0/20", "169.254.240.1", [["169.254.240.2", "169.254.254.255"]]],
    ["100.64.0.0/30", "100.64.0.1", [["100.64.0.2", "100.64.0.2"]]],
    ["169.254.255.0/24", null, []],
    ["255.255.255.255/32", "255.255.255.255", []],
  ] as const)("gives %s: rack %s", (slice, rack, ranges) => {
    const enlistment = { slice: ipPrefix(slice), leaseTime: 90 };
    expect(enlistmentAddress({ mode: "link-local", enlistment })?.address ?? null).toBe(rack);
    expect(enlistmentRanges(enlistment.slice).map(({ first, last }) => [first, last])).toEqual(ranges);
  });

  it("serves the slice beside the prefix, with the rack as server and short leases", () => {
    const conf = text([{ ...subnet, ntp: [ipAddress("192.168.50.1")] }]);
    const slice = conf.slice(conf.indexOf("subnet 169.254.16.0"));
    expect(slice).toContain("option dhcp-server-identifier 169.254.16.1;");
    expect(slice).toContain("option domain-name-servers 169.254.16.1;");
    expect(slice).toContain("option ntp-servers 169.254.16.1;");
    expect(slice).toMatch(/min-lease-time 90;\n +default-lease-time 90;\n +max-lease-time 90;/);
    expect(slice).not.toContain("routers");
  });

  it("does not name an NTP server that nobody found answering", () => {
    expect(text([subnet])).not.toContain("option ntp-servers 169.254");
  });

  it("refuses two links with the same slice, and a slice inside a prefix", () => {
    const other = { ...subnet, id: 2, prefix: ipPrefix("192.168.51.0/24"), gateway: null };
    const links = { links: [...eth0.links, linkAt("eth1", 2, "192.168.51.1")] };
    expect(codes([subnet, other], links)).toEqual(["subnet-duplicate"]);
    expect(codes([{ ...subnet, enlistment: { slice: ipPrefix("192.168.50.128/25"), leaseTime: 60 } }])).toEqual([
      "subnet-overlap",
    ]);
    expect(codes([{ ...subnet, enlistment: null }])).toEqual(["enlistment-missing"]);
  });
});

describe("wires", () => {
  const second = subnetOf({ id: 2, prefix: ipPrefix("192.168.51.0/24"), gateway: null, mode: "static" });

  it("gives each interface a shared network", () => {
    const conf = text([windowed, second], { links: [linkAt("eth1", 2, "192.168.51.1"), ...eth0.links] });
    expect(conf.match(/shared-network .*/g)).toEqual(['shared-network "eth0" {', 'shared-network "eth1" {']);
  });

  it("puts two subnets of one interface, and two interfaces of one subnet, on one wire", () => {
    const links = { links: [...eth0.links, linkAt("eth0", 2, "192.168.51.1"), linkAt("eth1", 1, "192.168.50.2")] };
    const conf = text([windowed, second], links);
    expect(conf.match(/shared-network .*/g)).toEqual(['shared-network "eth0" {']);
    expect(servedInterfaces({ subnets: [windowed, second] }, links)).toEqual(["eth0", "eth1"]);
  });

  it("is not authoritative where another server's subnet is on the wire", () => {
    const links = { links: [...eth0.links, linkAt("eth0", 2, "192.168.51.1")] };
    expect(text([windowed, second], links)).toContain("  authoritative;");
    expect(text([windowed, { ...second, mode: "observe" }], links)).toContain("  not authoritative;");
    expect(text([windowed, { ...second, mode: "off" }], links)).toContain("  not authoritative;");
    const ipv6 = { ...second, prefix: ipPrefix("2001:db8::/64"), mode: "off" as const };
    expect(text([windowed, ipv6], { links: [...eth0.links, linkAt("eth0", 2, "2001:db8::1")] })).toContain("  authoritative;");
  });

  it("warns of a subnet without a link and serves the others", () => {
    expect(warnings([windowed, second])).toEqual(["subnet-without-link"]);
    expect(text([windowed, second])).toBe(text([windowed]));
  });

  it("leaves IPv6 to the other dhcpd", () => {
    const v6 = subnetOf({ id: 3, prefix: ipPrefix("2001:db8::/64"), gateway: null, mode: "static" });
    expect(warnings([windowed, v6])).toEqual([]);
    expect(text([windowed, v6])).toBe(text([windowed]));
  });
});

describe("hosts", () => {
  const host = { hardwareAddress: hardwareAddress(1), address: ipAddress("192.168.50.9"), name: "m1.example.test" };

  it("declares a host once for each hardware address and network", () => {
    const second = subnetOf({
      id: 2,
      prefix: ipPrefix("192.168.51.0/24"),
      gateway: null,
      mode: "static",
      hosts: [{ ...host, address: ipAddress("192.168.51.9") }],
    });
    const links = { links: [...eth0.links, linkAt("eth1", 2, "192.168.51.1")] };
    const conf = text([{ ...windowed, hosts: [host] }, second], links);
    expect(conf.match(/host s.*/g)).toEqual(["host s1-020000000001 {", "host s2-020000000001 {"]);
  });

  it("lets the interfaces of a bond share an address", () => {
    const conf = text([{ ...windowed, hosts: [host, { ...host, hardwareAddress: hardwareAddress(2) }] }]);
    expect(conf.match(/fixed-address 192.168.50.9;/g)).toHaveLength(2);
  });

  it("never writes 20 octets after ethernet (case 191)", () => {
    const { given: bank, expect: wanted } = given<{ machine: { name: string; hwaddr: string; ip: string } }>(
      "191-infiniband-config",
    );
    const { hwaddr, ip, name } = bank.machine;
    const subnet = {
      ...windowed,
      prefix: ipPrefix("192.0.2.0/24"),
      gateway: null,
      dns: [],
      mode: "static" as const,
      window: null,
    };
    const ib = { hardwareAddress: hwaddr as typeof host.hardwareAddress, address: ipAddress(ip), name: `${name}.example.test` };
    const conf = text([{ ...subnet, hosts: [ib] }], { links: [linkAt("ib0", 1, "192.0.2.1")] });
    expect(conf).toContain(`hardware infiniband ${hwaddr};`);
    expect(conf).not.toMatch(new RegExp(String(wanted.conf_must_not_match)));
  });

  it("leaves out a machine at the rack's own address or the gateway's, and says so", () => {
    const hosts = ["192.168.50.1", "192.168.50.254", "192.168.50.9"].map((address, n) => ({
      hardwareAddress: hardwareAddress(n + 1),
      address: ipAddress(address),
      name: `m${n}.example.test`,
    }));
    expect(warnings([{ ...windowed, hosts }])).toEqual(["fixed-address-in-use", "fixed-address-in-use"]);
    expect(text([{ ...windowed, hosts }]).match(/fixed-address .*/g)).toEqual(["fixed-address 192.168.50.9;"]);
  });

  it("names the domain only where it is another one", () => {
    expect(text([{ ...windowed, hosts: [host] }]).match(/domain-name "/g)).toHaveLength(1);
    expect(text([{ ...windowed, hosts: [{ ...host, name: "m1.lab.test" }] }])).toContain('option domain-name "lab.test";');
  });

  it.each([
    ["fixed-address-outside-subnet", [{ ...host, address: ipAddress("10.0.0.1") }]],
    ["fixed-address-not-usable", [{ ...host, address: ipAddress("192.168.50.255") }]],
    ["host-duplicate", [host, { ...host, address: ipAddress("192.168.50.10") }]],
    ["fixed-address-duplicate", [host, { ...host, hardwareAddress: hardwareAddress(2), name: "m2.example.test" }]],
    ["label-characters", [{ ...host, name: "m_1.example.test" }]],
  ])("refuses %s", (code, hosts) => {
    expect(codes([{ ...windowed, hosts }])).toEqual([code]);
  });
});

describe("refusals of a subnet", () => {
  const range = (first: string, last: string): DesiredSubnet => ({
    ...windowed,
    window: { first: ipAddress(first), last: ipAddress(last) },
  });
  it.each([
    ["window-missing", { ...windowed, window: null }],
    ["window-inverted", range("192.168.50.20", "192.168.50.10")],
    ["window-outside-subnet", range("192.168.50.20", "192.168.51.10")],
    ["window-has-network-or-broadcast", range("192.168.50.0", "192.168.50.10")],
    ["window-has-network-or-broadcast", range("192.168.50.10", "192.168.50.255")],
    ["gateway-outside-subnet", { ...windowed, gateway: ipAddress("192.168.51.1") }],
    ["lease-time-above-max", { ...windowed, leaseTime: 7200, maxLeaseTime: 600 }],
  ])("says %s", (code, subnet) => {
    expect(codes([subnet])).toEqual([code]);
  });

  it("names duplicates and overlaps of subnets, also in modes off and observe", () => {
    expect(codes([windowed, { ...windowed, id: 2 }])).toEqual(["subnet-duplicate"]);
    expect(codes([windowed, { ...windowed, id: 2, mode: "off", prefix: ipPrefix("192.168.50.0/25") }])).toEqual([
      "subnet-overlap",
    ]);
    expect(codes([windowed, { ...windowed, prefix: ipPrefix("192.168.60.0/24"), mode: "off" }])).toEqual(["subnet-id-duplicate"]);
  });

  it("names a link whose address is not in its subnet, and an interface name that cannot be", () => {
    expect(codes([windowed], { links: [linkAt("eth0", 1, "10.0.0.1")] })).toEqual(["link-address-outside-subnet"]);
    expect(codes([windowed], { links: [linkAt('e"0', 1, "192.168.50.1")] })).toEqual(["interface-name"]);
  });
});

function given<T>(file: string): { readonly given: T; readonly expect: Record<string, unknown> } {
  return JSON.parse(readFileSync(new URL(`../../../../test/fixtures/dhcpd/${file}.json`, import.meta.url), "utf8")) as {
    given: T;
    expect: Record<string, unknown>;
  };
}

describe("options", () => {
  it("leaves an empty list of DNS servers out and writes IPv4 literals only (case 194)", () => {
    const { given: bank, expect: wanted } = given<{ cases: { dns: (string | null)[] }[] }>("194-empty-or-none-dns");
    const lines = bank.cases.map(({ dns }) => {
      const known = dns.filter((address) => address !== null).map(ipAddress);
      return /option domain-name-servers.*/.exec(text([{ ...windowed, dns: known }]))?.[0] ?? null;
    });
    expect(lines).toEqual(wanted.lines);
    // A null never gets this far: the schema of the desired state refuses it.
    expect(ipAddressSchema.safeParse(null).success).toBe(false);
    expect(ipAddressSchema.safeParse("None").success).toBe(false);
  });

  it("quotes the domain and the search list (case 195)", () => {
    const { given: bank, expect: wanted } = given<{ search: string[]; domain: string }>("195-search-list-quoting");
    const conf = text([{ ...windowed, domain: bank.domain, dhcp: { domainSearch: bank.search } }]);
    for (const line of wanted.must_contain as string[]) expect(conf).toContain(line);
  });

  it("gives the same bytes for the same content in any order", () => {
    const second = subnetOf({ id: 2, prefix: ipPrefix("192.168.51.0/24"), gateway: null, mode: "static" });
    const links = { links: [...eth0.links, linkAt("eth1", 2, "192.168.51.1")] };
    const hosts = [1, 2, 3].map((n) => ({
      hardwareAddress: hardwareAddress(n),
      address: ipAddress(`192.168.50.${n + 9}`),
      name: `m${n}.example.test`,
    }));
    expect(text([second, { ...windowed, hosts: hosts.toReversed() }], { links: links.links.toReversed() })).toBe(
      text([{ ...windowed, hosts }, second], links),
    );
  });
});
