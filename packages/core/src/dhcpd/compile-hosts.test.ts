import { fc, test } from "@fast-check/vitest";
import { expect, it } from "vitest";
import { hardwareAddress, linkAt, subnetOf } from "../../../../test/fixtures/dhcpd/subnet.js";
import { ipAddress, ipv4Number } from "../address/ip.js";
import type { DesiredHost } from "../desired/schema.js";
import type { Problem } from "../problem.js";
import { compileHosts } from "./compile-hosts.js";

/** Some hardware addresses share one address, as bonds do. */
const hosts = fc.uniqueArray(fc.integer({ min: 1, max: 120 }), { maxLength: 40 }).map((numbers) =>
  numbers.map(
    (number): DesiredHost => ({
      hardwareAddress: hardwareAddress(number),
      address: ipAddress(`192.168.50.${number >> 1}`),
      name: `m${number >> 1}.example.test`,
    }),
  ),
);

function compiled(all: readonly DesiredHost[]): {
  readonly hosts: readonly DesiredHost[];
  readonly warnings: readonly Problem[];
} {
  const warnings: Problem[] = [];
  const subnet = subnetOf({ mode: "static", gateway: ipAddress("192.168.50.9"), hosts: [...all] });
  const links = [linkAt("eth0", 1, "192.168.50.5"), linkAt("eth1", 2, "fd00::1")];
  return { hosts: compileHosts(subnet, { local: { links }, warnings }).flatMap((group) => group.hosts), warnings };
}

test.prop([hosts])("are in order, whatever order they came in, without those at the rack's or the gateway's address", (all) => {
  const expected = all
    .filter(({ address }) => address !== "192.168.50.5" && address !== "192.168.50.9")
    .toSorted((a, b) => ipv4Number(a.address) - ipv4Number(b.address) || (a.hardwareAddress < b.hardwareAddress ? -1 : 1));
  const got = compiled(all);
  expect(got.hosts).toEqual(expected);
  expect(got.warnings).toHaveLength(all.length - expected.length);
  expect(compiled(expected)).toEqual({ hosts: expected, warnings: [] });
});

it("leaves the desired state's own list as it is", () => {
  const pair = [3, 1].map((number) => ({
    hardwareAddress: hardwareAddress(number),
    address: ipAddress(`192.168.50.${number}`),
    name: `m${number}.example.test`,
  }));
  const before = structuredClone(pair);
  expect(compiled(pair).hosts.map(({ name }) => name)).toEqual(["m1.example.test", "m3.example.test"]);
  expect(pair).toEqual(before);
});
