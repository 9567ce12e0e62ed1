import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import type { ApiPorts } from "../../../packages/coordinator/src/http/ports.js";
import { ask, createFixture, rack, SUBNET } from "./api-fixture.js";
import { createCliFixture, type CliFixture } from "./cli-fixture.js";

/** What netplan(5) says of the keys that we write, and no other: an unknown key fails netplan as a whole. */
const cidr = z.string().regex(/^[0-9a-f.:]+\/\d{1,3}$/);
const ip = z.union([z.ipv4(), z.ipv6()]);
const link = {
  dhcp4: z.boolean(),
  dhcp6: z.boolean(),
  addresses: z.array(cidr).min(1).exactOptional(),
  routes: z
    .array(z.strictObject({ to: z.literal("default"), via: ip }))
    .min(1)
    .exactOptional(),
  nameservers: z.strictObject({ search: z.array(z.hostname()), addresses: z.array(ip).min(1) }).exactOptional(),
};
const identifier = z.string().regex(/^[a-z][a-z0-9]{0,14}$/);
const networkSchema = z
  .strictObject({
    version: z.literal(2),
    ethernets: z.record(
      identifier,
      z.strictObject({ match: z.strictObject({ macaddress: z.string().regex(/^([0-9a-f]{2}:){5}[0-9a-f]{2}$/) }), ...link }),
    ),
    bonds: z
      .record(
        identifier,
        z.strictObject({
          interfaces: z.array(identifier).min(2),
          parameters: z.strictObject({ mode: z.literal("active-backup") }),
          ...link,
        }),
      )
      .exactOptional(),
  })
  .refine(
    ({ bonds = {}, ethernets }) => Object.values(bonds).every(({ interfaces }) => interfaces.every((name) => name in ethernets)),
    "a bond of what is not there",
  );

let fixture: CliFixture;
beforeEach(async () => {
  fixture = await createCliFixture();
  await ask(fixture, "POST", "/subnets", { ...SUBNET, mode: "static", dns: ["192.168.50.2", "192.168.50.3"] });
  await ask(fixture, "POST", "/subnets", { prefix: "10.0.0.0/16", domain: "data.example", mode: "static" });
});
afterEach(() => fixture.close());

async function enroll(nics: readonly string[], address: string, name: string | null = null): Promise<void> {
  fixture.nowMs += 1000;
  const answer = await ask(fixture, "POST", "/machines/enroll", { nics, address, name });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
}

async function exported(...args: string[]): Promise<string> {
  const run = await fixture.berth(["export", ...args]);
  expect(run, run.stderr).toMatchObject({ code: 0, stderr: "" });
  return run.stdout;
}

async function fillRack(): Promise<void> {
  await enroll(["52:54:00:12:34:56"], "192.168.50.20", "web1");
  await enroll(["02:00:5e:00:53:02", "02:00:5e:00:53:03"], "192.168.50.9", "db1");
  await enroll(["02:00:5e:00:53:04"], "192.168.50.30");
  await enroll(["02:00:5e:00:53:04"], "10.0.255.254");
}

/** YAML as PyYAML takes it. */
const yaml11 = (text: string): unknown => parse(text, { version: "1.1" });

describe("berth export of the whole ledger", () => {
  beforeEach(fillRack);

  it("csv: is read back as it was, pre-made names too", async () => {
    const csv = await exported("csv");
    expect(csv.split("\r\n")).toEqual([
      "nic,name,address,subnet",
      "02:00:5e:00:53:02 02:00:5e:00:53:03,db1,192.168.50.9,192.168.50.0/24",
      "52:54:00:12:34:56,web1,192.168.50.20,192.168.50.0/24",
      "02:00:5e:00:53:04,,192.168.50.30,192.168.50.0/24",
      "02:00:5e:00:53:04,,10.0.255.254,10.0.0.0/16",
      "",
    ]);
    await writeFile(join(fixture.folder, "again.csv"), csv);
    const again = await fixture.berth(["import", "csv", join(fixture.folder, "again.csv")]);
    expect(again).toMatchObject({ code: 0, stderr: "4 machines imported: 0 new, 4 as before\n" });
    const other = await createCliFixture();
    for (const subnet of [SUBNET, { prefix: "10.0.0.0/16", domain: "data.example", mode: "static" }])
      await ask(other, "POST", "/subnets", subnet);
    await other.berth(["import", "csv", join(fixture.folder, "again.csv")]);
    // Enrolled in one moment, the addresses of a machine have no order of their own.
    const lines = (text: string): string[] => text.split("\r\n").sort();
    expect(lines((await other.berth(["export", "csv"])).stdout)).toEqual(lines(csv));
    await other.close();
  });

  it("json: has every address of every machine", async () => {
    const { machines } = JSON.parse(await exported("json")) as { machines: object[] };
    expect(machines).toMatchObject([
      { name: "db1.rack1.example", nics: ["02:00:5e:00:53:02", "02:00:5e:00:53:03"] },
      {
        name: "web1.rack1.example",
        addresses: [{ address: "192.168.50.20", prefixLength: 24, gateway: "192.168.50.1", premade: false }],
      },
      {
        name: "ip-192-168-50-30.rack1.example",
        addresses: [
          { address: "192.168.50.30", premade: true },
          { address: "10.0.255.254", gateway: null },
        ],
      },
    ]);
    const { machines: part } = JSON.parse(await exported("json", "--subnet", "10.0.0.0/16")) as { machines: object[] };
    expect(part).toHaveLength(1);
  });

  it("hosts: one line an address, the short name where it is the only one", async () => {
    expect(await exported("hosts")).toBe(
      "192.168.50.9\tdb1.rack1.example db1\n" +
        "192.168.50.20\tweb1.rack1.example web1\n" +
        "192.168.50.30\tip-192-168-50-30.rack1.example ip-192-168-50-30\n" +
        "10.0.255.254\tip-10-0-255-254.data.example ip-10-0-255-254\n",
    );
    await enroll(["02:00:5e:00:53:09"], "10.0.0.9", "web1");
    expect((await exported("hosts")).match(/^.*web1.*$/gm)).toEqual([
      "10.0.0.9\tweb1.data.example",
      "192.168.50.20\tweb1.rack1.example",
    ]);
  });

  it("ansible: an inventory that YAML 1.1 reads, NICs as text", async () => {
    expect(yaml11(await exported("ansible"))).toMatchObject({
      all: {
        hosts: { "web1.rack1.example": { ansible_host: "192.168.50.20", berth_nics: ["52:54:00:12:34:56"] } },
        children: {
          domain_data_example: { hosts: { "ip-192-168-50-30.rack1.example": {} } },
          subnet_192_168_50_0_24: { hosts: { "web1.rack1.example": {}, "db1.rack1.example": {} } },
        },
      },
    });
  });
});

describe("berth export of one machine's network", () => {
  const network = async (reference: string): Promise<z.infer<typeof networkSchema>> => {
    const netplan = yaml11(await exported("netplan", reference)) as { network: unknown };
    expect(Object.keys(netplan)).toEqual(["network"]);
    expect(yaml11(await exported("cloud-init", reference))).toEqual(netplan.network);
    return networkSchema.parse(netplan.network);
  };

  it("writes one NIC with address, default route and servers, the NIC quoted for YAML 1.1", async () => {
    await fillRack();
    expect(await exported("netplan", "web1")).toContain('macaddress: "52:54:00:12:34:56"\n');
    expect(await network("web1")).toEqual({
      version: 2,
      ethernets: {
        nic0: {
          match: { macaddress: "52:54:00:12:34:56" },
          dhcp4: false,
          dhcp6: false,
          addresses: ["192.168.50.20/24"],
          routes: [{ to: "default", via: "192.168.50.1" }],
          nameservers: { search: ["rack1.example"], addresses: ["192.168.50.2", "192.168.50.3"] },
        },
      },
    });
  });

  it("makes a bond of NICs that share an address, and puts several subnets on one NIC", async () => {
    await fillRack();
    expect(await network("db1")).toMatchObject({
      ethernets: { nic0: { match: { macaddress: "02:00:5e:00:53:02" } }, nic1: { match: { macaddress: "02:00:5e:00:53:03" } } },
      bonds: { bond0: { interfaces: ["nic0", "nic1"], addresses: ["192.168.50.9/24"] } },
    });
    expect(await network("192.168.50.30")).toMatchObject({
      ethernets: { nic0: { addresses: ["192.168.50.30/24", "10.0.255.254/16"], routes: [{ via: "192.168.50.1" }] } },
    });
  });

  it("keeps a second NIC with a subnet of its own out of the first one's link", async () => {
    await enroll(["02:00:5e:00:53:05"], "192.168.50.40", "two");
    await enroll(["02:00:5e:00:53:05", "02:00:5e:00:53:06"], "10.0.0.40", "two");
    const { bonds, ethernets } = await network("two");
    expect(bonds).toBeUndefined();
    expect(Object.values(ethernets).map(({ addresses, match }) => [match.macaddress, addresses])).toEqual([
      ["02:00:5e:00:53:05", ["192.168.50.40/24"]],
      ["02:00:5e:00:53:06", ["10.0.0.40/16"]],
    ]);
  });

  it("is refused for IPoIB, for sightings and for what nobody knows", async () => {
    await enroll(["80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:11:22:33"], "192.168.50.50", "ib1");
    expect(await fixture.berth(["export", "netplan", "ib1"])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("nic-not-matched") as string,
    });
    await fixture.berth(["machine", "release", "ib1"]);
    expect(await fixture.berth(["export", "netplan", "ib1"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("machine-without-address") as string,
    });
    expect(await fixture.berth(["export", "netplan", "nobody"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("machine-unknown") as string,
    });
  });
});

describe("GET /subnets/REF/servers", () => {
  it("says what racks give, and pinned servers where no rack serves", async () => {
    const served = { id: 1, dns: ["192.168.50.7"], ntp: ["192.168.50.8"] };
    const planner = { desiredFor: () => ({ subnets: [served] }) } as unknown as ApiPorts["planner"];
    const planned = await createFixture({ planner });
    await ask(planned, "POST", "/subnets", SUBNET);
    expect((await ask(planned, "GET", "/subnets/1/servers")).body).toEqual({ dns: [], ntp: [] });
    planned.racks = [rack("rack-1")];
    expect((await ask(planned, "GET", "/subnets/1/servers")).body).toEqual({ dns: ["192.168.50.7"], ntp: ["192.168.50.8"] });
    await planned.close();
    expect((await ask(fixture, "GET", "/subnets/1/servers")).body).toEqual({ dns: ["192.168.50.2", "192.168.50.3"], ntp: [] });
  });
});
