import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import {
  addressFromValue,
  addressValue,
  composeZones,
  ipAddress,
  ipPrefix,
  parseHardwareAddress,
  renderRndcKey,
  usableRange,
  type DesiredState,
  type DesiredSubnet,
  type IpAddress,
  type RackLink,
} from "@berth/core";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { renderedFiles, writeFiles } from "../../golden-cases.js";
import { createLab, type Lab } from "../lab.js";
import { requireTools } from "../require-tools.js";
import { runProgram } from "../run-program.js";

let lab: Lab;
let folder: string;
beforeAll(async () => {
  requireTools(["dhcpd", "named-checkconf"]);
  lab = await createLab({ name: "random.test" });
  folder = mkdtempSync(join(tmpdir(), "berth-random-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await lab.close();
});

const label = fc
  .stringMatching(/^[a-z0-9]([a-z0-9]{0,8}-?[a-z0-9]{1,8})?$/)
  .filter((text) => text !== "" && text.slice(2, 4) !== "--");

/** One subnet by its place: prefixes of different places never overlap. Offsets count from the first usable address. */
const subnetSeed = fc.record({
  length: fc.integer({ min: 24, max: 30 }),
  mode: fc.constantFrom<DesiredSubnet["mode"]>("off", "observe", "static", "window", "link-local"),
  interfaceName: fc.constantFrom("eth0", "bond1.20", "enp3s0f0"),
  window: fc.tuple(fc.nat({ max: 300 }), fc.nat({ max: 300 })),
  excluded: fc.array(fc.nat({ max: 300 }), { maxLength: 12 }),
  hosts: fc.uniqueArray(fc.tuple(fc.nat({ max: 300 }), label), { maxLength: 12, selector: ([offset]) => offset }),
  gateway: fc.option(fc.nat({ max: 300 })),
  leaseTime: fc.integer({ min: 10, max: 100_000 }),
});
type SubnetSeed = typeof subnetSeed extends fc.Arbitrary<infer T> ? T : never;

/** Only what an operator may declare: offsets wrap inside the subnet. */
function subnetFrom(seed: SubnetSeed, place: number): { readonly subnet: DesiredSubnet; readonly link: RackLink } {
  const prefix = ipPrefix(`10.${place}.0.0/${seed.length}`);
  const usable = usableRange(prefix);
  const size = addressValue(usable.last) - addressValue(usable.first) + 1n;
  const at = (offset: number): IpAddress => addressFromValue(4, addressValue(usable.first) + (BigInt(offset) % size));
  const [a, b] = seed.window.map(at);
  const [first = usable.first, last = usable.last] = [a, b].sort((x, y) =>
    Number(addressValue(x ?? usable.first) - addressValue(y ?? usable.first)),
  );
  const hosts = new Map(seed.hosts.map(([offset, name]) => [at(offset), `${name}.r${place}.example.test`]));
  const subnet: DesiredSubnet = {
    id: place + 1,
    prefix,
    mode: seed.mode,
    gateway: seed.gateway === null ? null : at(seed.gateway),
    domain: `r${place}.example.test`,
    window: seed.mode === "window" ? { first, last } : null,
    enlistment: seed.mode === "link-local" ? { slice: ipPrefix(`169.254.${place * 16}.0/20`), leaseTime: 60 } : null,
    excluded: seed.excluded.map(at),
    hosts: [...hosts].map(([address, name], n) => ({ hardwareAddress: mac(place, n), address, name })),
    dns: [usable.first],
    ntp: seed.gateway === null ? [] : [usable.first],
    leaseTime: seed.leaseTime,
    maxLeaseTime: seed.leaseTime * 2,
  };
  return { subnet, link: { name: seed.interfaceName, subnetId: subnet.id, address: usable.first } };
}

function mac(place: number, n: number): DesiredSubnet["hosts"][number]["hardwareAddress"] {
  const address = parseHardwareAddress(`02:00:00:00:${place.toString(16)}:${n.toString(16)}`);
  if (address === null) throw new Error("not a hardware address");
  return address;
}

function stateOf(subnets: readonly DesiredSubnet[]): DesiredState {
  const composed = composeZones({
    subnets,
    allocations: subnets.flatMap(({ id, hosts }) => hosts.map(({ address, name }) => ({ subnetId: id, address, name }))),
    servers: [{ name: "one", addresses: [ipAddress("10.0.0.1")] }],
  });
  const zones = composed.zones.map((zone) => ({ ...zone, serial: 1 }));
  return {
    format: 1,
    rack: "one",
    generation: 1,
    subnets: [...subnets],
    zones,
    queryFrom: subnets.map(({ prefix }) => prefix),
    forwarders: [],
  };
}

it("whatever our review lets through, dhcpd and named take too", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(subnetSeed, { minLength: 1, maxLength: 5 }), async (seeds) => {
      const planned = seeds.map(subnetFrom);
      const desired = stateOf(planned.map(({ subnet }) => subnet));
      const links = { links: planned.map(({ link }) => link) };
      mkdirSync(folder, { recursive: true });
      const paths = { directory: folder, zones: join(folder, "zones"), key: join(folder, "rndc.key") };
      const files = renderedFiles({ name: "random", folder, desired, links }, { paths, port: 53, controlPort: 953 });
      writeFiles(folder, files);
      writeFileSync(paths.key, renderRndcKey(Buffer.alloc(32, "random").toString("base64")));
      // Declared properly, so nothing may be refused; what remains is a used-up window, or a machine at the rack's or the gateway's address.
      expect([...files.keys()]).toContain("dhcpd.conf");
      expect(files.get("findings.txt") ?? "").toMatch(/^(.*\[(window-empty|enlistment-empty|fixed-address-in-use)\]\n)*$/);
      const dhcpd = await runProgram([lab.programs.unconfined("dhcpd"), "-t", "-q", "-cf", join(folder, "dhcpd.conf")]);
      expect([dhcpd.status, dhcpd.stderr]).toEqual([0, ""]);
      const named = await runProgram(["named-checkconf", "-z", join(folder, "named.conf")]);
      expect([named.status, named.stderr, named.stdout.replace(/^zone \S+: loaded serial 1$\n?/gm, "")]).toEqual([0, "", ""]);
    }),
    { numRuns: 60 },
  );
});
