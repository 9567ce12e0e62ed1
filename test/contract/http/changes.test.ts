import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PAGE_ITEMS_MAX } from "@berth/core";
import { ADMIN_TOKEN, ask, createFixture, lease, rack, SUBNET, type ApiFixture } from "./api-fixture.js";

let fixture: ApiFixture;
beforeEach(async () => {
  fixture = await createFixture();
  await ask(fixture, "POST", "/subnets", { ...SUBNET, mode: "static" });
});
afterEach(() => fixture.close());

const NIC = (number: number): string => `02:00:00:00:01:0${number}`;

async function enroll(number: number, name: string): Promise<string> {
  const answer = await ask(fixture, "POST", "/machines/enroll", { nics: [NIC(number)], name, subnet: "1" });
  expect(answer.status).toBe(201);
  return (answer.body as { machine: { id: string } }).machine.id;
}

describe("additional addresses", () => {
  it("are given by key, are the same for the same key, and go back alone or with the machine", async () => {
    await enroll(1, "web1");
    const order = { kind: "additional", machine: "web1", key: "pod-1" };
    const first = await ask(fixture, "POST", "/allocations", order);
    expect(first).toMatchObject({
      status: 201,
      body: { created: true, allocation: { kind: "additional", address: "192.168.50.3", delivery: "config", nics: [] } },
    });
    expect(await ask(fixture, "POST", "/allocations", order)).toMatchObject({
      status: 200,
      body: { created: false, allocation: (first.body as { allocation: object }).allocation },
    });
    const second = await ask(fixture, "POST", "/allocations", { ...order, key: "pod-2", name: "db", address: "192.168.50.77" });
    expect(second).toMatchObject({ status: 201, body: { allocation: { name: "db.rack1.example", address: "192.168.50.77" } } });
    expect(await ask(fixture, "POST", "/allocations", { ...order, key: "pod-3", address: "192.168.50.77" })).toMatchObject({
      status: 409,
      body: { code: "address-taken", detail: expect.stringContaining("db.rack1.example") as string },
    });
    expect(await ask(fixture, "DELETE", "/allocations/db.rack1.example")).toMatchObject({ status: 200 });
    expect(await ask(fixture, "GET", "/allocations/192.168.50.77")).toMatchObject({ status: 404 });
    expect(await ask(fixture, "DELETE", "/allocations/192.168.50.2")).toMatchObject({
      status: 409,
      body: { code: "allocation-of-machine" },
    });
    await ask(fixture, "POST", "/machines/web1/release", {});
    expect(await ask(fixture, "GET", "/allocations")).toMatchObject({ body: { items: [] } });
  });

  it("are given many at once, all or none", async () => {
    await enroll(1, "web1");
    const items = [
      { kind: "enroll", nics: [NIC(2)], name: "web2", subnet: "1" },
      { kind: "additional", machine: "web2", name: "extra" },
      { kind: "vip", owners: ["web1", "web2"], key: "front", name: "front" },
      { kind: "machine", machine: "web1", subnet: "1" },
    ];
    const bad = [...items, { kind: "enroll", nics: [NIC(3)], name: "extra", subnet: "1" }, { kind: "vip", owners: ["nobody"] }];
    expect(await ask(fixture, "POST", "/allocations/bulk", { items: bad })).toMatchObject({
      status: 409,
      body: {
        problems: [
          { code: "name-taken", at: "items[4].name" },
          { code: "machine-unknown", at: "items[5].machine" },
        ],
      },
    });
    expect(await ask(fixture, "GET", "/allocations")).toMatchObject({ body: { items: [{ name: "web1.rack1.example" }] } });
    const done = await ask(fixture, "POST", "/allocations/bulk", { items });
    expect(done).toMatchObject({
      status: 201,
      body: {
        items: [
          { created: true, allocation: { address: "192.168.50.3" } },
          { created: true, allocation: { address: "192.168.50.4", name: "extra.rack1.example" } },
          { created: true, allocation: { address: "192.168.50.5", kind: "vip" } },
          { created: false, allocation: { address: "192.168.50.2" } },
        ],
      },
    });
  });
});

describe("virtual addresses", () => {
  it("have owners, are joined by key, show who holds them, and are freed with the last owner", async () => {
    const [one, two, three] = [await enroll(1, "lb1"), await enroll(2, "lb2"), await enroll(3, "lb3")];
    const order = { owners: ["lb1"], key: "front", name: "front" };
    const made = await ask(fixture, "POST", "/vips", order);
    expect(made).toMatchObject({
      status: 201,
      body: { allocation: { kind: "vip", owners: [one], name: "front.rack1.example" } },
    });
    expect(await ask(fixture, "POST", "/vips", { ...order, owners: ["lb2"] })).toMatchObject({
      status: 200,
      body: { created: false, allocation: { owners: [one, two] } },
    });
    expect(await ask(fixture, "POST", "/vips/front/owners", { machine: NIC(3) })).toMatchObject({
      status: 200,
      body: { owners: [one, two, three] },
    });
    expect(await ask(fixture, "POST", "/vips/front/owners", { machine: "nobody" })).toMatchObject({ status: 404 });
    const { address } = (made.body as { allocation: { address: string } }).allocation;
    expect(await ask(fixture, "GET", "/vips")).toMatchObject({
      body: { items: [{ address, owner: "front.rack1.example", owners: [one, two, three], holders: [] }] },
    });
    await ask(fixture, "POST", "/machines/lb2/release", {});
    expect(await ask(fixture, "DELETE", `/vips/${address}/owners/lb1`)).toMatchObject({ body: { owners: [three] } });
    expect(await ask(fixture, "DELETE", "/vips/front.rack1.example/owners/lb3")).toMatchObject({ body: { owners: [] } });
    expect(await ask(fixture, "GET", "/allocations?kind=vip")).toMatchObject({ body: { items: [] } });
    expect(await ask(fixture, "POST", "/vips", { owners: ["lb2"] })).toMatchObject({
      status: 409,
      body: { code: "machine-released" },
    });
  });
});

describe("names and reservations", () => {
  it("are made, listed and removed, and what clashes is refused", async () => {
    await enroll(1, "m1");
    const alias = await ask(fixture, "POST", "/names", { name: "DB.rack1.example.", type: "CNAME", value: "m1.rack1.example" });
    expect(alias).toMatchObject({ status: 201, body: { name: "db.rack1.example", value: "m1.rack1.example", source: "record" } });
    expect(await ask(fixture, "POST", "/machines/enroll", { nics: [NIC(2)], name: "db", subnet: "1" })).toMatchObject({
      status: 409,
      body: { code: "name-taken" },
    });
    expect(await ask(fixture, "POST", "/names", { name: "db.rack1.example", type: "A", value: "192.0.2.1" })).toMatchObject({
      status: 409,
      body: { code: "cname-beside-others" },
    });
    expect(await ask(fixture, "GET", "/names")).toMatchObject({
      body: { items: [alias.body, { id: null, name: "m1.rack1.example", type: "A", source: "allocation" }] },
    });
    expect(await ask(fixture, "GET", "/names?source=record&type=A")).toMatchObject({ body: { items: [] } });
    expect(await ask(fixture, "DELETE", "/names/db.rack1.example")).toMatchObject({ status: 200, body: alias.body as object });
    const kept = { first: "192.168.50.3", last: "192.168.50.5", note: "the old SAN" };
    const reservation = await ask(fixture, "POST", "/reservations", kept);
    expect(reservation).toMatchObject({ status: 201, body: { ...kept, kind: "reservation", subnet: "192.168.50.0/24" } });
    expect(await ask(fixture, "POST", "/reservations", kept)).toMatchObject({ status: 200, body: reservation.body as object });
    await enroll(2, "m2");
    expect(await ask(fixture, "GET", "/machines/m2")).toMatchObject({ body: { addresses: [{ address: "192.168.50.6" }] } });
    expect(await ask(fixture, "DELETE", "/reservations/192.168.50.3")).toMatchObject({ status: 200 });
    await enroll(3, "m3");
    expect(await ask(fixture, "GET", "/machines/m3")).toMatchObject({ body: { addresses: [{ address: "192.168.50.3" }] } });
  });
});

describe("machines", () => {
  it("are enlisted by request only, keep their wished name, are renamed and given NICs", async () => {
    fixture.racks = [rack("rack-1", { reports: [lease("192.168.50.200")] })];
    expect(await ask(fixture, "POST", "/machines/enlist", { nics: [NIC(1)], name: "node" })).toMatchObject({
      status: 201,
      body: { state: "enlisted", name: "node", addresses: [] },
    });
    expect(await ask(fixture, "POST", "/machines/enlist", { nics: [NIC(1)] })).toMatchObject({ status: 200 });
    await ask(fixture, "POST", "/machines/enroll", { nics: [NIC(1)], subnet: "1" });
    expect(await ask(fixture, "GET", "/machines/node")).toMatchObject({ body: { state: "enrolled", name: "node" } });
    const changed = await ask(fixture, "PATCH", "/machines/node", { name: "db", addNics: [NIC(2)] });
    expect(changed).toMatchObject({
      status: 200,
      body: { name: "db", nics: [NIC(1), NIC(2)], addresses: [{ name: "db.rack1.example" }] },
    });
    expect(await ask(fixture, "PATCH", "/machines/db", { removeNics: [NIC(1), NIC(2)] })).toMatchObject({ status: 422 });
    expect(await ask(fixture, "PATCH", "/machines/db", { name: null, removeNics: [NIC(1)] })).toMatchObject({
      body: { name: null, nics: [NIC(2)], addresses: [{ name: "ip-192-168-50-3.rack1.example" }] },
    });
  });
});

describe("how a change is asked for", () => {
  const send = (method: "POST" | "PATCH" | "DELETE", path: string, headers: Record<string, string>, body?: unknown) =>
    fixture.api.inject({
      method,
      url: `/api/v1${path}`,
      headers: {
        authorization: `Bearer ${ADMIN_TOKEN}`,
        ...headers,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });

  it("a dry run answers what would be and changes nothing", async () => {
    const { revision } = fixture.ports.ledger;
    const body = { nics: [NIC(1)], name: "web1", subnet: "1" };
    const dry = await send("POST", "/machines/enroll?dry_run=true", { "idempotency-key": "k" }, body);
    expect([dry.statusCode, dry.headers["berth-dry-run"]]).toEqual([200, "true"]);
    expect(dry.json()).toMatchObject({ created: true, allocation: { address: "192.168.50.2" } });
    for (const [method, path, sent] of [
      ["POST", "/subnets", { ...SUBNET, prefix: "10.0.0.0/24", gateway: null }],
      ["PATCH", "/subnets/1", { leaseTime: 700 }],
      ["DELETE", "/subnets/1", undefined],
      ["POST", "/machines/enlist", { nics: [NIC(1)] }],
      ["POST", "/names", { name: "a.rack1.example", type: "TXT", value: "x" }],
      ["POST", "/reservations", { first: "192.168.50.9" }],
    ] as const) {
      const answer = await send(method, `${path}?dry_run=true`, {}, sent);
      expect([path, answer.statusCode]).toEqual([path, 200]);
    }
    expect(fixture.ports.ledger.revision).toBe(revision);
    expect(await ask(fixture, "GET", "/machines")).toMatchObject({ body: { items: [] } });
    expect((await send("POST", "/machines/enroll?dry_run=perhaps", {}, body)).statusCode).toBe(400);
  });

  it("the same idempotency key answers the same, over a restart of the ledger too; with another request it is refused", async () => {
    await enroll(1, "web1");
    const body = { kind: "additional", machine: "web1" };
    const key = { "idempotency-key": "once-1" };
    const first = await send("POST", "/allocations", key, body);
    expect(first.statusCode).toBe(201);
    const again = await send("POST", "/allocations", key, body);
    expect([again.statusCode, again.json<unknown>()]).toEqual([201, first.json<unknown>()]);
    expect((await send("POST", "/allocations", { "idempotency-key": "once-2" }, body)).json()).not.toEqual(first.json());
    const other = await send("POST", "/allocations", key, { ...body, machine: NIC(1) });
    expect([other.statusCode, other.json<{ code: string }>().code]).toEqual([422, "idempotency-key-reused"]);
    expect((await fixture.store.ledger.load()).content.answers.map((answer) => answer.key)).toEqual(["once-1", "once-2"]);
    fixture.nowMs += 25 * 3600 * 1000;
    expect((await send("POST", "/allocations", key, body)).json()).not.toEqual(first.json());
    expect((await fixture.store.ledger.load()).content.answers.map((answer) => answer.key)).toEqual(["once-1"]);
  });

  it("a change on condition is refused when the thing has changed, whatever came in the same turn", async () => {
    await enroll(1, "web1");
    const shown = await fixture.api.inject({ url: "/api/v1/machines/web1", headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    const etag = String(shown.headers.etag);
    const both = await Promise.all(
      ["a", "b"].map((name) => send("PATCH", `/machines/${NIC(1)}`, { "if-match": etag }, { name })),
    );
    expect(both.map(({ statusCode }) => statusCode).sort()).toEqual([200, 412]);
    const winner = both.find(({ statusCode }) => statusCode === 200);
    expect((await send("PATCH", `/machines/${NIC(1)}`, { "if-match": etag }, { name: "c" })).json()).toMatchObject({
      code: "precondition-failed",
    });
    const next = String(winner?.headers.etag);
    expect((await send("PATCH", `/machines/${NIC(1)}`, { "if-match": `"x", ${next}` }, { name: "c" })).statusCode).toBe(200);
    expect((await send("PATCH", "/subnets/1", { "if-match": '"x"' }, { leaseTime: 700 })).statusCode).toBe(412);
    expect((await send("PATCH", "/subnets/1", { "if-match": "*" }, { leaseTime: 700 })).statusCode).toBe(200);
  });

  it("every change stands in the audit log, newest first, by pages and filters", async () => {
    await enroll(1, "web1");
    await ask(fixture, "POST", "/vips", { owners: ["web1"], key: "front" });
    const first = await ask(fixture, "GET", "/audit?limit=2");
    expect(first).toMatchObject({
      body: { items: [{ action: "create-vip", actor: "token admin" }, { action: "enroll-machine" }], next: "2" },
    });
    expect(await ask(fixture, "GET", "/audit?after=2")).toMatchObject({
      body: { items: [{ action: "create-subnet" }], next: null },
    });
    expect(await ask(fixture, "GET", "/audit?action=create-vip")).toMatchObject({ body: { items: [{ number: 3 }] } });
    expect(await ask(fixture, "GET", "/audit?actor=nobody")).toMatchObject({ body: { items: [] } });
    expect(await ask(fixture, "GET", "/audit?after=zzz")).toMatchObject({ status: 400 });
  });

  it("the largest page of the audit log says that another follows", async () => {
    const { audit } = fixture.store;
    const entry = { at: 1, actor: "a", action: "step", subject: "", detail: null };
    for (let count = 0; count <= PAGE_ITEMS_MAX; count++) await audit.append(entry);
    const { body } = await ask(fixture, "GET", `/audit?limit=${PAGE_ITEMS_MAX}&action=step`);
    const page = body as { items: unknown[]; next: string };
    expect(page.items).toHaveLength(PAGE_ITEMS_MAX);
    expect(await ask(fixture, "GET", `/audit?after=${page.next}&action=step`)).toMatchObject({
      body: { items: [{ action: "step" }], next: null },
    });
  });
});
