import { afterEach, beforeEach, expect, test } from "vitest";
import { ask, createFixture, type ApiFixture } from "./api-fixture.js";

let fixture: ApiFixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

const SUBNET6 = { prefix: "2001:db8:50::/64", domain: "rack6.example", mode: "static", gateway: "2001:db8:50::1" };

test("an IPv6 subnet takes part in everything: enroll, additional addresses, VIPs, reservations, records, search, release", async () => {
  expect(await ask(fixture, "POST", "/subnets", SUBNET6)).toMatchObject({ status: 201, body: { prefix: SUBNET6.prefix } });
  expect(await ask(fixture, "GET", "/subnets/1")).toMatchObject({ status: 200, body: { prefix: SUBNET6.prefix } });
  const machine = { nics: ["02:00:5e:00:53:01"], name: "db1" };
  const enrolled = { allocation: { address: "2001:db8:50::2", name: "db1.rack6.example" } };
  expect(await ask(fixture, "POST", "/machines/enroll", machine)).toMatchObject({ status: 201, body: enrolled });
  expect(await ask(fixture, "GET", "/machines/2001:db8:50:0::2")).toMatchObject({ status: 200, body: { name: "db1" } });
  const more = { kind: "additional", machine: "db1", address: "2001:DB8:50::A" };
  expect(await ask(fixture, "POST", "/allocations", more)).toMatchObject({
    status: 201,
    body: { allocation: { address: "2001:db8:50::a" } },
  });
  const vip = { owners: ["db1"], name: "front", address: "2001:db8:50::ff" };
  expect((await ask(fixture, "POST", "/vips", vip)).status).toBe(201);
  const range = { kind: "exclusion", first: "2001:db8:50::3", last: "2001:db8:50::9" };
  expect((await ask(fixture, "POST", "/reservations", range)).status).toBe(201);
  const next = { nics: ["02:00:5e:00:53:02"] };
  expect(await ask(fixture, "POST", "/machines/enroll", next)).toMatchObject({
    status: 201,
    body: { allocation: { address: "2001:db8:50::b", name: "ip-2001-db8-50-0-0-0-0-b.rack6.example" } },
  });
  const record = { name: "www.rack6.example", type: "AAAA", value: "2001:db8:50::2" };
  expect((await ask(fixture, "POST", "/names", record)).status).toBe(201);
  const anycast = { nics: ["02:00:5e:00:53:03"], address: "2001:db8:50::" };
  expect(await ask(fixture, "POST", "/machines/enroll", anycast)).toMatchObject({
    status: 422,
    body: { problems: [{ code: "address-not-for-hosts", message: expect.stringContaining("anycast") as string }] },
  });
  expect((await ask(fixture, "POST", "/machines/db1/release")).status).toBe(200);
  const left = (await ask(fixture, "GET", "/allocations")).body as { items: { address: string }[] };
  expect(left.items.map(({ address }) => address)).toEqual(["2001:db8:50::b"]);
});
