import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import type { DhcpReply } from "../lab/dhcp-packet.js";
import { startDhcpd, startDhcpd6 } from "../lab/lab-daemons.js";
import { createLab, type Lab } from "../lab/lab.js";
import type { Link } from "../lab/link.js";
import { strangerMac, type RawDhcpClient, type Stranger } from "../lab/raw-dhcp-client.js";
import { requireTools } from "../lab/require-tools.js";

const KNOWN = "02:00:5e:00:00:01";

/** As an operator wrote it, with what Berth has a setting for, none of it as Berth would write it. */
const CONF = `
option arch code 93 = unsigned integer 16;
option rfc3442-classless-static-routes code 121 = array of unsigned integer 8;
ddns-update-style none;
use-host-decl-names on;
default-lease-time 1800;
max-lease-time 3600;
option domain-name "rack.example";
option domain-name-servers 10.20.0.53, 10.20.0.54;
option interface-mtu 1400;
next-server 10.20.0.5;

class "http" {
  match if substring (option vendor-class-identifier, 0, 10) = "HTTPClient";
  if option arch = 00:10 { option vendor-class-identifier "HTTPClient"; filename "http://10.20.0.5/x64.efi"; }
  elsif option arch = 00:13 { option vendor-class-identifier "HTTPClient"; filename "http://10.20.0.5/arm64.efi"; }
}
if exists user-class and option user-class = "iPXE" {
  filename "http://10.20.0.5/boot.ipxe";
} elsif option arch = 00:07 or option arch = 00:09 {
  filename "x64.efi";
} elsif option arch = 00:0b {
  filename "arm64.efi";
} elsif option arch = 00:00 {
  filename "lpxelinux.0";
} else if substring (option vendor-class-identifier, 0, 9) = "PXEClient" and not exists arch {
  filename "lpxelinux.0";
}

subnet 10.20.0.0 netmask 255.255.255.0 {
  authoritative;
  option routers 10.20.0.254, 10.20.0.253;
  option domain-search "rack.example", "example";
  option interface-mtu 9000;
  option ntp-servers 10.20.0.7;
  option log-servers 10.20.0.6;
  option root-path "10.20.0.5:/srv/root";
  option rfc3442-classless-static-routes 0, 10,20,0,254, 16, 10,30, 10,20,0,253;
  pool { range 10.20.0.100 10.20.0.101; range 10.20.0.103; }
}
# Relays forward it to 10.20.0.1.
subnet 10.21.0.0 netmask 255.255.255.0 {
  default-lease-time 900;
  option routers 10.21.0.254;
  option domain-name "far.example";
  option ntp-servers 10.20.0.7;
  range 10.21.0.100 10.21.0.103;
}
group {
  option interface-mtu 9000;
  host db1 { hardware ethernet ${KNOWN}; fixed-address 10.20.0.60; }
}
`;

const CONF6 = `
default-lease-time 1800;
max-lease-time 3600;
subnet6 fd50:1::/64 {
  option dhcp6.name-servers fd50:1::53;
  option dhcp6.domain-search "rack.example", "example";
  option dhcp6.sntp-servers fd50:1::7;
  range6 fd50:1::100 fd50:1::100;
}
host db1 { hardware ethernet ${KNOWN}; fixed-address6 fd50:1::60; }
`;

const VENDOR = "PXEClient:Arch:00000:UNDI:003001";
const http = (architecture: number): Partial<Stranger> => ({ vendorClass: "HTTPClient:Arch:00016:UNDI:003001", architecture });
const ASKED = { wanted: [7, 17, 26, 60, 121] } as const;
const RELAY = "10.21.0.254";
/** Machines whose answers are recorded, before and after. */
const MACHINES: readonly (Stranger & { readonly is: string })[] = [
  { is: "known", mac: KNOWN, ...ASKED },
  { is: "known, BIOS", mac: KNOWN, vendorClass: VENDOR, architecture: 0, ...ASKED },
  { is: "known, old PXE", mac: KNOWN, vendorClass: "PXEClient", ...ASKED },
  ...[7, 9, 11, 6].map((architecture) => ({
    is: `known, PXE ${architecture}`,
    mac: KNOWN,
    vendorClass: VENDOR,
    architecture,
    ...ASKED,
  })),
  ...[16, 19, 15].map((architecture) => ({ is: `known, HTTP ${architecture}`, mac: KNOWN, ...http(architecture), ...ASKED })),
  ...[0, 7].map((architecture) => ({
    ...{ is: `known, iPXE ${architecture}`, mac: KNOWN, vendorClass: VENDOR, architecture, userClass: "iPXE", ...ASKED },
    options: [[175, Uint8Array.of(1, 1, 1)]] as const,
  })),
  ...[1, 2, 3].map((n) => ({ is: `stranger ${n}`, mac: strangerMac(n), ...ASKED })),
  { is: "far stranger", mac: strangerMac(9), relayAddress: RELAY, ...ASKED },
];

/** Everything that it was told. */
function told(reply: DhcpReply | null): unknown {
  if (reply === null) return null;
  const options = [...reply.options].map(([code, value]) => `${code} ${value.toString("hex")}`).sort();
  return { type: reply.type, address: reply.address, nextServer: reply.nextServer, bootFile: reply.bootFile, options };
}

describe("a rack whose dhcpd.conf is adopted", () => {
  let lab: Lab;
  let region: Region;
  let rack: Rack;
  let link: Link;
  let client: RawDhcpClient;
  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "named", "dhclient", "gcc"]);
    lab = await createLab({ name: "adopt" });
    region = new Region(await lab.addRegion("region"), "10.240.1.10");
    link = await lab.addLink("rack1");
    const host = await lab.addRack("rack1");
    await host.connect(link, { addresses: ["10.20.0.1/24", "fd50:1::1/64"] });
    await host.ip("route", "add", `${RELAY}/32`, "dev", "eth0");
    rack = new Rack(host);
    const crowd = await lab.addHost("crowd");
    await crowd.connect(link);
    client = await crowd.rawDhcp();
    await region.start();
    await rack.join(region);
  });
  afterAll(() => lab.close());

  /** A stranger asks for what it had: which address of a window it gets first is dhcpd's own choice. */
  async function record(before: ReadonlyMap<string, unknown> = new Map()): Promise<Map<string, unknown>> {
    const answers = new Map<string, unknown>();
    for (const { is, ...machine } of MACHINES) {
      const had = before.get(is) as { readonly address: string } | undefined;
      const patience = { waitMs: 4_000, attempts: 3, ...(had === undefined ? {} : { requested: had.address }) };
      answers.set(is, told((await client.dora(machine, patience)).reply));
      client.powerOff(machine);
    }
    return answers;
  }

  async function record6(round: string): Promise<unknown> {
    const answers = [];
    for (const [name, mac] of [
      ["known", KNOWN],
      ["stranger", strangerMac(20)],
    ] as const) {
      const machine = await lab.addMachine(`${name}-${round}`, link);
      await machine.ip("link", "set", "eth0", "address", mac);
      const dhclient = await machine.dhclient({ family: 6 });
      const { address, nameServers, domainSearch } = await dhclient.waitForAddress({ deadlineMs: 30_000 });
      await dhclient.stop();
      answers.push({ name, address, nameServers, domainSearch });
    }
    return answers;
  }

  it("serves the same machines the same addresses and options, on both families, and loses no word of the file", async () => {
    const daemon = await startDhcpd(rack.host, CONF);
    const before = await record();
    await daemon.stop();
    const daemon6 = await startDhcpd6(rack.host, CONF6);
    const before6 = await record6("before");
    await daemon6.stop();
    expect([...before.values()]).not.toContain(null);

    for (const [name, text] of Object.entries({ "dhcpd.conf": CONF, "dhcpd6.conf": CONF6 })) {
      writeFileSync(rack.host.path(name), text);
      const plan = await rack.agent("adopt", rack.host.path(name), "--json");
      expect(JSON.parse(plan.stdout)).toMatchObject({ withoutCounterpart: [], unreadable: [] });
      expect(plan.status).toBe(0);
      writeFileSync(rack.host.path("plan.json"), plan.stdout);
      const imported = await region.berth("import", "plan", rack.host.path("plan.json"));
      expect(imported.stderr + String(imported.status)).toMatch(/0$/);
    }
    await rack.start();
    await rack.waitUntilServing({ deadlineMs: 60_000 });
    expect((await rack.status())?.problems).toEqual([]);
    expect(Object.fromEntries(await record(before))).toEqual(Object.fromEntries(before));
    expect(await record6("after")).toEqual(before6);
  });
});
