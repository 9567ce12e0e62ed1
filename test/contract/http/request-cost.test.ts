import { afterEach, expect, it, vi } from "vitest";
import type { Subnet } from "@berth/core";
import { ask, createFixture, SUBNET, type ApiFixture } from "./api-fixture.js";

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
  looks = { subnets: 0, racks: 0 };
  for (const [path, body] of [
    ["/machines/enroll", { nics: [nic(2)], subnet: "3" }],
    ["/machines/enlist", { nics: [nic(3)] }],
    ["/allocations", { kind: "additional", machine: nic(1) }],
    ["/vips", { owners: [nic(1), nic(2)], subnet: "3" }],
    [`/machines/${nic(2)}/release`, {}],
  ] as const)
    expect([path, (await ask(fixture, "POST", path, body)).status]).toEqual([path, path.endsWith("release") ? 200 : 201]);
  expect(looks).toEqual({ subnets: 0, racks: 0 });
  await ask(fixture, "GET", "/subnets");
  expect(looks).toEqual({ subnets: 20, racks: 1 });
});
