import { afterEach, expect, it, vi } from "vitest";
import { findMachineView, type MachineView, type Subnet } from "@berth/core";
import { ask, createFixture, lease, mac, rack, SUBNET, type ApiFixture } from "./api-fixture.js";

/** How often the API looked at a subnet of the list, and asked for all racks. */
let looks = { subnets: 0, racks: 0 };
let fixture: ApiFixture;
afterEach(() => fixture.close());

/** The list itself, as long as the ledger keeps one; looks at its items are counted. */
function countingSubnets({ ports: { ledger } }: ApiFixture): void {
  const real = ledger.subnets.bind(ledger);
  let [known, counted]: (readonly Subnet[])[] = [];
  const get = (list: readonly Subnet[], key: string | symbol): unknown => {
    if (typeof key === "string" && /^\d+$/.test(key)) looks.subnets += 1;
    return Reflect.get(list, key);
  };
  vi.spyOn(ledger, "subnets").mockImplementation(() => {
    const list = real();
    if (list !== known || counted === undefined) [known, counted] = [list, new Proxy(list, { get })];
    return counted;
  });
}

const nic = (number: number): string => `02:00:00:00:00:0${number}`;

it("a change of one machine looks at no subnet but once for all such changes, and asks for no list of racks", async () => {
  const racks = () => {
    looks.racks += 1;
    return [];
  };
  fixture = await createFixture({ racks });
  for (let number = 0; number < 20; number++)
    await ask(fixture, "POST", "/subnets", { ...SUBNET, prefix: `10.0.${number}.0/24`, gateway: null, mode: "static" });
  countingSubnets(fixture);
  const first = await ask(fixture, "POST", "/machines/enroll", { nics: [nic(1)], subnet: "7" });
  expect(first).toMatchObject({ status: 201, body: { allocation: { subnet: "10.0.6.0/24" } } });
  await ask(fixture, "GET", "/allocations?subnet=7");
  looks = { subnets: 0, racks: 0 };
  for (const [path, body] of [
    ["/machines/enroll", { nics: [nic(2)], subnet: "3" }],
    ["/machines/enlist", { nics: [nic(3)] }],
    ["/allocations", { kind: "additional", machine: nic(1) }],
    ["/vips", { owners: [nic(1), nic(2)], subnet: "3" }],
    [`/machines/${nic(2)}/release`, {}],
  ] as const)
    expect([path, (await ask(fixture, "POST", path, body)).status]).toEqual([path, path.endsWith("release") ? 200 : 201]);
  expect(await ask(fixture, "GET", "/allocations?subnet=10.0.2.0%2F24")).toMatchObject({ body: { items: [{ kind: "vip" }] } });
  await ask(fixture, "POST", "/reservations", { first: "10.0.6.9" });
  expect(await ask(fixture, "GET", "/reservations?subnet=7")).toMatchObject({ body: { items: [{ subnet: "10.0.6.0/24" }] } });
  expect(looks).toEqual({ subnets: 0, racks: 0 });
  await ask(fixture, "GET", "/subnets");
  expect(looks).toEqual({ subnets: 20, racks: 1 });
});

it("the racks of a subnet are found without a look at what racks reported before", async () => {
  let reads = 0;
  const seen = rack("rack-1");
  const interfaces = seen.interfaces.map((each) =>
    Object.defineProperty({ ...each }, "addresses", {
      get: () => {
        reads += 1;
        return each.addresses;
      },
    }),
  );
  fixture = await createFixture();
  fixture.racks = [{ ...seen, interfaces }];
  expect(await ask(fixture, "POST", "/subnets", SUBNET)).toMatchObject({ body: { racks: ["rack-1"] } });
  reads = 0;
  fixture.racks = [{ ...seen, interfaces, lastSeenAt: fixture.nowMs }];
  expect(await ask(fixture, "GET", "/subnets/1")).toMatchObject({ body: { racks: ["rack-1"] } });
  expect(reads).toBe(0);
  fixture.racks = [{ ...seen, interfaces: [], lastSeenAt: fixture.nowMs }];
  expect(await ask(fixture, "GET", "/subnets/1")).toMatchObject({ body: { racks: [] } });
});

it("a machine is shown by its id, name, NIC and addresses as it stands in the list, and without that list", async () => {
  fixture = await createFixture();
  await ask(fixture, "POST", "/subnets", { ...SUBNET, mode: "static" });
  for (const [numbers, name] of [
    [[1, 4], "old"],
    [[2], "new"],
    [[3], "free"],
  ] as const)
    await ask(fixture, "POST", "/machines/enroll", { nics: numbers.map(nic), name, subnet: "1" });
  for (const name of ["old", "free"]) await ask(fixture, "POST", `/machines/${name}/release`, {});
  await ask(fixture, "PATCH", "/machines/new", { addNics: [nic(1)] });
  fixture.nowMs += 1;
  await ask(fixture, "POST", "/allocations", { kind: "additional", machine: "new" });
  fixture.nowMs += 1;
  await ask(fixture, "POST", "/machines/enroll", { nics: [nic(5)], name: "other", subnet: "1" });
  await ask(fixture, "POST", "/vips", { owners: ["new", "other"], name: "service" });
  const reports = [1, 2, 3, 6].map((number) => lease(`192.168.50.10${number}`, { hardwareAddress: mac(nic(number)) }));
  fixture.racks = [rack("rack-1", { reports: reports.slice(0, 2) }), rack("rack-2", { reports: reports.slice(1) })];
  const { items } = (await ask(fixture, "GET", "/machines")).body as { items: MachineView[] };
  const leasesOf = Object.fromEntries(items.map(({ name, leases }) => [name ?? "stranger", leases.length]));
  expect(leasesOf).toEqual({ old: 0, new: 3, free: 1, other: 0, stranger: 1 });
  const lists = (["machines", "allocations"] as const).map((list) => vi.spyOn(fixture.ports.ledger, list));
  const references = items.flatMap(({ id, name, nics, addresses, leases }) => [
    ...[id ?? [], name ?? [], nics].flat(),
    ...addresses.flatMap((each) => [each.address, each.name]),
    ...leases.map(({ address }) => address),
  ]);
  expect(new Set(references).size).toBeGreaterThan(20);
  for (const reference of references)
    expect([reference, (await ask(fixture, "GET", `/machines/${reference.toUpperCase()}`)).body]).toEqual([
      reference,
      findMachineView(items, reference),
    ]);
  expect(await ask(fixture, "GET", "/machines/192.168.50.200")).toMatchObject({ status: 404 });
  expect(lists.map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
});
