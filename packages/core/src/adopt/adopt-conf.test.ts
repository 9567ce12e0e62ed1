import { describe, expect, it } from "vitest";
import { ipAddress } from "../address/ip.js";
import { adoptDhcpdConf } from "./adopt-conf.js";
import type { AdoptedSubnet, AdoptPlan } from "./plan.js";

const addresses = [ipAddress("10.0.0.1"), ipAddress("10.1.0.1")];

function adopt(text: string, host: readonly string[] | null = null): AdoptPlan {
  const known = host === null ? null : host.map((address) => ipAddress(address));
  return adoptDhcpdConf("f", () => text, { addresses: known });
}

/** The one subnet, with more statements in it. */
function subnetWith(
  statements: string,
  outer = "",
): { readonly subnet: AdoptedSubnet | undefined; readonly lost: readonly string[] } {
  const plan = adopt(`${outer}\noption domain-name "a.example";\nsubnet 10.0.0.0 netmask 255.255.255.0 { ${statements}\n}`);
  return { subnet: plan.subnets[0], lost: plan.withoutCounterpart.map(({ at, why }) => `${at} ${why}`) };
}

describe("options", () => {
  it("are taken as they are told, innermost first, and what is not told stays untold", () => {
    const { lost, subnet } = subnetWith(
      `option routers 10.0.0.1, 10.0.0.2; option interface-mtu 9000; option domain-search "a.example", "b.example.";
       option time-offset -3600; option log-servers 10.0.0.3; option tcode "Europe/Paris"; min-lease-time 60;`,
      "option interface-mtu 1400;",
    );
    expect(lost).toEqual([]);
    expect(subnet).toMatchObject({
      gateway: "10.0.0.1",
      dns: null,
      dhcp: {
        routers: ["10.0.0.1", "10.0.0.2"],
        mtu: 9000,
        domainSearch: ["a.example", "b.example"],
        options: { "time-offset": -3600, "log-servers": ["10.0.0.3"], tcode: "Europe/Paris" },
        minLeaseTime: 60,
      },
    });
    expect(subnetWith("range 10.0.0.5;").subnet?.dhcp).toEqual({ domainSearch: [] });
  });

  it("have routes under the name that the file gives them", () => {
    const define = "option rfc3442 code 121 = array of unsigned integer 8;";
    const routes = subnetWith("option routers 10.0.0.1; option rfc3442 0,10,0,0,1,16,10,9,10,0,0,2;", define);
    expect(routes.subnet?.dhcp?.routes).toEqual([{ prefix: "10.9.0.0/16", via: "10.0.0.2" }]);
    expect(routes.lost).toEqual([]);
    const bare = subnetWith("option routers 10.0.0.1; option rfc3442 16,10,9,10,0,0,2;", define);
    expect(bare.lost).toEqual(["f:3 it has no default route, and Berth adds the router's"]);
    expect(subnetWith("option rfc3442 33,10,9;", define).lost).toHaveLength(1);
    expect(subnetWith("range 10.0.0.9;", define)).toMatchObject({ subnet: { dhcp: { domainSearch: [] } }, lost: [] });
  });

  it("that cannot be had are named with their line", () => {
    const { lost } = subnetWith(`option interface-mtu 20; option domain-search "a b";
      option netbios-node-type 3; option subnet-mask 255.0.0.0; option www-server 10.0.0.9; max-lease-time 100;`);
    expect(lost.map((line) => line.split(" ")[0]).sort()).toEqual(["f:3", "f:3", "f:4", "f:4", "f:4", "f:4"]);
  });

  it("of single machines and their groups have no counterpart unless they are the subnet's", () => {
    const host = (inside: string): string => `host h { hardware ethernet 00:00:5e:00:53:01; fixed-address 10.0.0.9; ${inside} }`;
    const same = adopt(
      `subnet 10.0.0.0 netmask 255.255.255.0 { option interface-mtu 1400; }\ngroup { option interface-mtu 1400; ${host("")} }`,
    );
    expect(same.withoutCounterpart).toEqual([]);
    const other = adopt(`subnet 10.0.0.0 netmask 255.255.255.0 { option interface-mtu 1400; }
group {
option interface-mtu 1500;
filename "x"; ${host("\nnext-server 10.0.0.3;")}
}`);
    expect(other.withoutCounterpart.map(({ at }) => at)).toEqual(["f:5", "f:3", "f:4"]);
  });
});

const ARCH = "option arch code 93 = unsigned integer 16;";

describe("boot", () => {
  it("is a file for each kind of firmware, however the ladder is written", () => {
    const { lost, subnet } = subnetWith(
      `next-server 10.0.0.5;
       if exists user-class and option user-class = "iPXE" { filename "http://10.0.0.5/b.ipxe"; }
       elsif option arch = 00:07 or option arch = 00:09 { filename "x64.efi"; }
       else if option arch = 00:0b { filename "arm.efi"; }
       else if substring(option vendor-class-identifier, 0, 10) = "HTTPClient" and option arch = 00:10 {
         option vendor-class-identifier "HTTPClient"; filename "http://10.0.0.5/x64.efi"; }
       elsif option arch = 00:00 or (substring(option vendor-class-identifier, 0, 9) = "PXEClient" and not exists arch) { filename "lpxe.0"; }`,
      ARCH,
    );
    expect(lost).toEqual([]);
    expect(subnet?.dhcp?.boot).toEqual({
      nextServer: "10.0.0.5",
      ipxe: "http://10.0.0.5/b.ipxe",
      uefiX64: "x64.efi",
      uefiArm64: "arm.efi",
      httpX64: "http://10.0.0.5/x64.efi",
      bios: "lpxe.0",
    });
  });

  it("for all alike is told to all alike", () => {
    const { lost, subnet } = subnetWith('filename "pxelinux.0";', "next-server 10.0.0.7;");
    expect(lost).toEqual([]);
    expect(subnet?.dhcp).toMatchObject({ boot: { nextServer: "10.0.0.7" }, snippet: 'filename "pxelinux.0";\n' });
  });

  it("holds classes over what a subnet says, and names the kinds that lose their file", () => {
    const { lost, subnet } = subnetWith(
      'filename "old";',
      `${ARCH} class "pxe" { match if substring (option vendor-class-identifier, 0, 9) = "PXEClient";
       if option arch = 00:07 { filename "uefi.efi"; } else {
         filename "lpxe.0"; } }`,
    );
    expect(subnet?.dhcp?.boot).toEqual({ bios: "lpxe.0", uefiX64: "uefi.efi", uefiArm64: "lpxe.0" });
    expect(lost).toEqual([
      "f:3 for UEFI x64 (9), iPXE on UEFI x64 (9) Berth has 'uefi.efi' instead",
      "f:3 for UEFI x86, UEFI arm32, Itanium Berth has nothing instead",
      expect.stringContaining("f:5 for UEFI HTTP x64"),
    ]);
  });

  it("does not guess which of two classes wins", () => {
    const classes = ["x", "y"].map((file) => `class "${file}" { match if option arch = 00:07; filename "${file}"; }`);
    expect(subnetWith("range 10.0.0.9;", `${ARCH} ${classes.join("\n")}`).lost[0]).toBe(
      "f:2 another class sets it for UEFI x64 (7), too",
    );
  });

  it.each([
    ["a word that is not understood", 'if known { filename "x"; }'],
    ["a mixed condition", 'if option arch = 00:07 or option arch = 00:09 and exists user-class { filename "x"; }'],
    ["a number that dhcpd compares otherwise", 'if option arch = 7 { filename "x"; }'],
    ["a pattern", 'if option vendor-class-identifier ~= "PXE" { filename "x"; }'],
    ["something else than a file in it", 'if option arch = 00:07 { option root-path "x"; }'],
  ])("takes nothing over from %s", (_, ladder) => {
    const { lost, subnet } = subnetWith(ladder, ARCH);
    expect(lost).toHaveLength(1);
    expect(subnet?.dhcp?.boot).toBeUndefined();
  });
});

describe("failover", () => {
  const peer = (inside: string): string =>
    `failover peer "p" { primary; address 10.0.0.1; port 519; peer address 10.0.0.2; peer port 519; ${inside} }`;
  const pools = 'pool { failover peer "p"; range 10.0.0.10 10.0.0.20; } ';

  it("is the wish of a subnet whose pools are shared", () => {
    const { lost, subnet } = subnetWith(pools, peer("mclt 1800; split 200; max-response-delay 10; load balance max seconds 3;"));
    expect(lost).toEqual([]);
    expect(subnet?.dhcp?.failover).toEqual({ mclt: 1800, split: 200, port: 519 });
  });

  it("has one partner and the values that Berth has, else it says so", () => {
    const { lost } = subnetWith(
      `${pools}\nrange 10.0.0.30 10.0.0.40;`,
      peer("mclt 5; hba ff:00; max-response-delay 60; auto-partner-down 9;"),
    );
    expect(lost).toHaveLength(5);
    expect(subnetWith('pool { failover peer "q"; range 10.0.0.10; }').lost).toEqual(["f:3 no such failover peer in the file"]);
  });
});

describe("relayed networks", () => {
  const near = "subnet 10.0.0.0 netmask 255.255.255.0 { range 10.0.0.10; }\n";
  const far = (inside = ""): string => `subnet 10.9.0.0 netmask 255.255.255.0 { range 10.9.0.10; ${inside} }\n`;
  const relays = (text: string, host: readonly string[] | null = null): unknown[] =>
    adopt(text, host).subnets.map(({ dhcp }) => dhcp?.relay ?? null);

  it("are those on no link of the host, served at the address that the file or the host has", () => {
    expect(relays(near + far(), ["10.0.0.1"])).toEqual([null, { servers: ["10.0.0.1"] }]);
    expect(relays(near + far("server-identifier 10.1.0.1;"), ["10.0.0.1", "10.1.0.1"])).toEqual([
      null,
      { servers: ["10.1.0.1"] },
    ]);
    expect(relays(`${near}subnet 10.1.0.0 netmask 255.255.255.0 { }\n${far()}`, ["10.0.0.1", "10.1.0.1"])).toEqual([null, null]);
    expect(relays(near + far("option dhcp-server-identifier 10.0.0.1;"))).toEqual([null, { servers: ["10.0.0.1"] }]);
  });

  it("are not the other networks of a wire, and nothing is guessed for the file of another host", () => {
    const wire = `shared-network w { option dhcp-server-identifier 10.0.0.1; ${near}${far()} }`;
    expect(relays(wire)).toEqual([null, null]);
    expect(adopt(wire, ["10.0.0.1"]).withoutCounterpart.map(({ why }) => why)).toEqual([
      "Berth tells machines of 10.9.0.0/24 the rack's own address there",
      "Berth serves it only where this host has an address in it: give it one",
    ]);
    expect(relays(near + far(), ["192.0.2.9"])).toEqual([null, null]);
  });
});

describe("IPv6", () => {
  it("has windows, servers, and machines by their hardware address or one in their identifier", () => {
    const plan = adopt(`option dhcp6.domain-search "six.example"; default-lease-time 600; max-lease-time 700;
subnet6 2001:db8::/64 { option dhcp6.name-servers 2001:db8::1; range6 2001:db8::100 2001:db8::1ff; range6 2001:db8::1:0/112; }
subnet6 2001:db8:1::/64 { range6 2001:db8:1::/80 temporary; prefix6 2001:db8:100:: 2001:db8:200:: /56; preferred-lifetime 60; }
host a { host-identifier option dhcp6.client-id 00:01:00:01:2a:bb:cc:dd:00:00:5e:00:53:01; fixed-address6 2001:db8::5; }
host b { hardware ethernet 00:00:5e:00:53:02; host-identifier option dhcp6.client-id 0:3:0:1:0:0:5e:0:53:2; fixed-address6 2001:db8::6; }
host c { host-identifier option dhcp6.client-id 00:02:00:00:ab:11; fixed-address6 2001:db8::7; }`);
    expect(plan.subnets[0]).toMatchObject({
      mode: "window",
      domain: "six.example",
      window: { first: "2001:db8::100", last: "2001:db8::1:ffff" },
      reserved: [{ first: "2001:db8::200", last: "2001:db8::ffff" }],
      dns: ["2001:db8::1"],
      dhcp: null,
    });
    expect(plan.machines).toMatchObject([
      { nics: ["00:00:5e:00:53:01"], address: "2001:db8::5" },
      { nics: ["00:00:5e:00:53:02"], address: "2001:db8::6" },
    ]);
    expect(plan.withoutCounterpart.map(({ at }) => at).sort()).toEqual(["f:3", "f:3", "f:3", "f:6", "f:6"]);
  });
});

describe("who is answered", () => {
  it("has no ranges outside of subnets", () => {
    expect(subnetWith("range 10.0.0.10;", "range 10.0.0.20;").lost).toEqual(["f:1 a range outside of every subnet"]);
  });

  it("leaves out ranges that unknown clients get nothing of", () => {
    const { lost, subnet } = subnetWith("range 10.0.0.10 10.0.0.20;", "deny unknown-clients;");
    expect(subnet).toMatchObject({ mode: "static", window: null });
    expect(lost).toEqual([expect.stringContaining("f:1 Berth's windows are for unknown clients")]);
    expect(subnetWith("allow unknown-clients; range 10.0.0.10;", "deny unknown-clients; allow booting;")).toMatchObject({
      subnet: { mode: "window" },
      lost: [],
    });
  });
});

describe("an enlistment pool", () => {
  const slice = (
    prefix: string,
    first: string,
    more = "",
  ): string => `subnet ${prefix} netmask 255.255.255.248 { option dhcp-server-identifier ${first};
option domain-name-servers ${first}; min-lease-time 90; default-lease-time 90; max-lease-time 90;
pool { deny known-clients; range ${first.replace(/1$/, "2")} ${first.replace(/1$/, "6")}; }
${more} }`;
  const withPool = (text: string): AdoptPlan =>
    adopt(
      `option domain-name "a.example"; subnet 10.0.0.0 netmask 255.255.255.0 { option dhcp-server-identifier 10.0.0.1; }\n${text}`,
    );

  it("is known by its addresses, or by what its machines are told", () => {
    expect(withPool(slice("169.254.16.0", "169.254.16.1")).subnets).toMatchObject([
      { enlistment: { pool: "169.254.0.0/16", sliceLength: 29, leaseTime: 90 } },
    ]);
    expect(withPool(slice("100.64.0.0", "100.64.0.1")).subnets).toMatchObject([
      { enlistment: { pool: "100.64.0.0/29", sliceLength: 29 } },
    ]);
    expect(withPool(slice("100.64.0.0", "100.64.0.1", "option routers 100.64.0.1;")).subnets).toHaveLength(2);
  });

  it("says what in it Berth would not tell", () => {
    const lost = withPool(slice("169.254.16.0", "169.254.16.1", 'option interface-mtu 1400;\nfilename "x";')).withoutCounterpart;
    expect(lost.map(({ at }) => at)).toEqual(["f:5", "f:6"]);
  });
});

it("reads 20,000 hosts and 200 subnets in groups, each setting once", () => {
  const hosts = Array.from(
    { length: 20_000 },
    (_, n) => `host h${n} { hardware ethernet 02:00:00:00:${(n >> 8).toString(16)}:${(n & 255).toString(16)}; }`,
  );
  const subnets = Array.from({ length: 200 }, (_, n) => `subnet 10.${n}.0.0 netmask 255.255.0.0 { range 10.${n}.1.1; }`);
  const plan = adopt(`option interface-mtu 1400;\n${subnets.join("\n")}\ngroup { ${hosts.join("\n")} }`, addresses);
  expect(plan.machines).toHaveLength(20_000);
  expect(plan.subnets.every(({ dhcp }) => dhcp?.mtu === 1400)).toBe(true);
});
