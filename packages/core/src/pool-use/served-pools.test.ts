import { expect, it } from "vitest";
import { linkAt, subnetOf } from "../../../../test/fixtures/dhcpd/subnet.js";
import { ipAddress } from "../address/ip.js";
import { ipPrefix } from "../address/prefix.js";
import { compileDhcpd } from "../dhcpd/compile.js";
import { servedPools } from "./served-pools.js";

const ROOM = { first: ipAddress("192.168.50.100"), last: ipAddress("192.168.50.109") };
const windowed = subnetOf({ mode: "window", window: ROOM, excluded: [ipAddress("192.168.50.105")] });
const slice = subnetOf({
  mode: "link-local",
  enlistment: { slice: ipPrefix("169.254.4.0/24"), leaseTime: 60 },
});
const eth0 = { links: [linkAt("eth0", 1, "192.168.50.1")] };

it.each([
  ["a window", windowed, 2],
  ["a slice of the enlistment pool", slice, null],
])("are those of %s that dhcpd is given", (_, subnet, expected) => {
  const compiled = compileDhcpd({ subnets: [subnet] }, eth0);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const given = compiled.value.sharedNetworks.flatMap(({ subnets }) => subnets.flatMap(({ pools }) => pools));
  const [pool, ...others] = servedPools({ subnets: [subnet] }, eth0);
  expect(pool).toMatchObject({ subnetId: 1, prefix: "192.168.50.0/24", interfaceName: "eth0" });
  expect(pool?.ranges).toEqual(given.flatMap(({ ranges }) => ranges));
  expect(others).toEqual([]);
  if (expected !== null) expect(pool?.ranges).toHaveLength(expected);
});

it("are none without a link, without a pool, and where nothing is served", () => {
  expect(servedPools({ subnets: [windowed] }, { links: [] })).toEqual([]);
  expect(servedPools({ subnets: [{ ...windowed, excludedRanges: [ROOM] }] }, eth0)).toEqual([]);
  for (const mode of ["off", "observe", "static"] as const)
    expect(servedPools({ subnets: [{ ...windowed, mode }] }, eth0)).toEqual([]);
});

it("of a relayed subnet have no interface of their own", () => {
  const relays = [{ ...linkAt("eth0", 1, "10.9.0.1"), network: ipPrefix("10.9.0.0/24") }];
  expect(servedPools({ subnets: [windowed] }, { links: [], relays })).toMatchObject([{ interfaceName: null }]);
});

it("of an IPv6 subnet are its window without what has a name", () => {
  const six = subnetOf({
    ...{ id: 6, prefix: ipPrefix("2001:db8:50::/64"), gateway: null, dns: [], mode: "window" },
    window: { first: ipAddress("2001:db8:50::10"), last: ipAddress("2001:db8:50::1f") },
    excluded: [ipAddress("2001:db8:50::12")],
  });
  const links = [linkAt("eth0", 6, "2001:db8:50::10")];
  expect(servedPools({ subnets: [six] }, { links })).toEqual([
    {
      ...{ subnetId: 6, prefix: "2001:db8:50::/64", interfaceName: "eth0" },
      ranges: [
        { first: "2001:db8:50::11", last: "2001:db8:50::11" },
        { first: "2001:db8:50::13", last: "2001:db8:50::1f" },
      ],
    },
  ]);
  expect(servedPools({ subnets: [{ ...six, mode: "link-local" }] }, { links })).toEqual([]);
});
