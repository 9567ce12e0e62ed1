import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { composeZones, ipAddress, ipPrefix, renderRndcKey, type DesiredState } from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderedFiles, writeFiles } from "../../golden-cases.js";
import type { Host } from "../host.js";
import { createLab, type Lab } from "../lab.js";
import { requireTools } from "../require-tools.js";
import { runOrThrow } from "../run-program.js";
import { waitUntil } from "../wait-until.js";

const PORT = { port: 53, controlPort: 953 };

/** A rack with a /16 and a /26 whose machines have chosen and pre-made names; one network is not declared. */
function desired(serial: number, extra: readonly { address: string; name: string }[] = []): DesiredState {
  const subnets = [
    { id: 1, prefix: ipPrefix("10.7.0.0/16"), domain: "hall.example.test" },
    { id: 2, prefix: ipPrefix("192.168.50.64/26"), domain: "lab.hall.example.test" },
    { id: 3, prefix: ipPrefix("2001:db8:50::/64"), domain: "hall.example.test" },
  ];
  const allocations = [
    { address: "10.7.3.9", name: "db1.hall.example.test" },
    { address: "10.7.3.10", name: "ip-10-7-3-10.hall.example.test" },
    { address: "192.168.50.70", name: "web.hall.example.test" },
    { address: "2001:db8:50::9", name: "ip-2001-db8-50-0-0-0-0-9.hall.example.test" },
    ...extra,
  ].map(({ address, name }) => ({
    subnetId: address.startsWith("10.") ? 1 : address.startsWith("192") ? 2 : 3,
    address: ipAddress(address),
    name,
  }));
  const servers = [{ name: "one", addresses: [ipAddress("10.7.0.1"), ipAddress("192.168.50.65")] }];
  const composed = composeZones({ subnets, allocations, servers });
  return {
    format: 1,
    rack: "one",
    generation: serial,
    subnets: [],
    zones: composed.zones.map((zone) => ({ ...zone, serial })),
    queryFrom: subnets.map(({ prefix }) => prefix),
    forwarders: [],
  };
}

describe("a real named on rendered files", () => {
  let lab: Lab;
  let rack: Host;
  let inside: Host;
  let outside: Host;

  function write(state: DesiredState): string {
    const folder = rack.path("named");
    const paths = { directory: folder, zones: join(folder, "zones"), key: join(folder, "rndc.key") };
    const links = { links: [{ name: "eth0", subnetId: 1, address: ipAddress("10.7.0.1") }] };
    writeFiles(
      folder,
      renderedFiles({ name: "", folder, desired: { ...state, subnets: [listening] }, links }, { paths, ...PORT }),
    );
    writeFileSync(paths.key, renderRndcKey(Buffer.alloc(32, lab.id).toString("base64")), { mode: 0o600 });
    return folder;
  }

  beforeAll(async () => {
    requireTools(["ip", "named", "rndc", "dig"]);
    lab = await createLab({ name: "served-dns.test" });
    const link = await lab.addLink("hall");
    rack = await lab.addRack("rack", { backbone: null });
    await rack.connect(link, { addresses: ["10.7.0.1/16", "172.31.0.1/24"] });
    inside = await lab.addHost("inside");
    await inside.connect(link, { addresses: ["10.7.9.9/16"] });
    outside = await lab.addHost("outside");
    await outside.connect(link, { addresses: ["172.31.0.2/24"] });
    await outside.ip("route", "add", "10.7.0.1/32", "via", "172.31.0.1");
    const folder = write(desired(1));
    const named = await rack.spawn([rack.unconfined("named"), "-g", "-c", join(folder, "named.conf")], {
      logFile: rack.path("named.log"),
    });
    await named.waitForLine(/ running$/);
  });
  afterAll(() => lab.close());

  async function ask(name: string, type: string, from = inside): Promise<string> {
    const answer = await from.query(name, type, "10.7.0.1");
    return answer.values.length > 0 ? answer.values.join(" ") : answer.rcode;
  }

  it.each([
    ["ip-10-7-255-254.hall.example.test", "A", "10.7.255.254"],
    ["254.255.7.10.in-addr.arpa", "PTR", "ip-10-7-255-254.hall.example.test."],
    ["db1.hall.example.test", "A", "10.7.3.9"],
    ["9.3.7.10.in-addr.arpa", "PTR", "db1.hall.example.test."],
    ["ip-10-7-3-9.hall.example.test", "A", "10.7.3.9"],
    ["web.hall.example.test", "A", "192.168.50.70"],
    ["70.50.168.192.in-addr.arpa", "PTR", "web.hall.example.test."],
    ["ip-192-168-50-70.lab.hall.example.test", "A", "192.168.50.70"],
    ["71.50.168.192.in-addr.arpa", "PTR", "ip-192-168-50-71.lab.hall.example.test."],
    ["63.50.168.192.in-addr.arpa", "PTR", "NXDOMAIN"],
    ["ip-2001-db8-50-0-0-0-0-9.hall.example.test", "AAAA", "2001:db8:50::9"],
    ["1.0.7.10.in-addr.arpa", "PTR", "rack-one.hall.example.test."],
    ["hall.example.test", "NS", "rack-one.hall.example.test."],
    ["lab.hall.example.test", "NS", "rack-one.lab.hall.example.test."],
    ["nobody.hall.example.test", "A", "NXDOMAIN"],
  ])("answers %s %s with %s", async (name, type, value) => {
    expect(await ask(name, type)).toBe(value);
  });

  it("answers declared networks and itself only, and transfers to nobody", async () => {
    expect(await ask("db1.hall.example.test", "A", outside)).toBe("REFUSED");
    expect(await ask("db1.hall.example.test", "A", rack)).toBe("10.7.3.9");
    const transfer = await inside.run(["dig", "@10.7.0.1", "hall.example.test", "AXFR", "+time=2"]);
    expect(transfer.stdout).toContain("Transfer failed.");
  });

  it("takes a new zone over its own control channel, and serves the new serial", async () => {
    const folder = write(desired(2, [{ address: "10.7.3.10", name: "db2.hall.example.test" }]));
    const rndc = ["rndc", "-s", "127.0.0.1", "-p", "953", "-k", join(folder, "rndc.key")] as const;
    await runOrThrow(rack.command([...rndc, "reload", "hall.example.test"]));
    await waitUntil(() => ask("hall.example.test", "SOA"), { describe: "serial 2", until: (soa) => soa.split(" ")[2] === "2" });
    expect(await ask("db2.hall.example.test", "A")).toBe("10.7.3.10");
  });
});

/** Only there so that the rack's own address is listened on. */
const listening: DesiredState["subnets"][number] = {
  id: 1,
  prefix: ipPrefix("10.7.0.0/16"),
  mode: "off",
  gateway: null,
  domain: "hall.example.test",
  window: null,
  enlistment: null,
  excluded: [],
  hosts: [],
  dns: [],
  ntp: [],
  leaseTime: 600,
  maxLeaseTime: 600,
};
