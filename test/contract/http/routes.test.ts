import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { NOW, SUBNET, ask, createFixture, lease, mac, rack, type ApiFixture } from "./api-fixture.js";

let fixture: ApiFixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

describe("subnets", () => {
  it("are declared, listed, shown by number and prefix, changed and removed", async () => {
    fixture.racks = [rack("rack-1")];
    const created = await ask(fixture, "POST", "/subnets", SUBNET);
    expect(created).toMatchObject({
      status: 201,
      body: { id: 1, prefix: "192.168.50.0/24", mode: "link-local", racks: ["rack-1"] },
    });
    expect(await ask(fixture, "GET", "/subnets")).toEqual({
      ...created,
      status: 200,
      body: { items: [created.body], next: null },
    });
    expect(await ask(fixture, "GET", "/subnets/1")).toMatchObject({ status: 200, body: created.body });
    expect(await ask(fixture, "GET", "/subnets/192.168.50.0%2F24")).toMatchObject({ status: 200, body: created.body });
    const change = { mode: "window", window: { first: "192.168.50.100", last: "192.168.50.120" }, enlistment: null };
    expect(await ask(fixture, "PATCH", "/subnets/1", change)).toMatchObject({ status: 200, body: { window: change.window } });
    expect(await ask(fixture, "DELETE", "/subnets/192.168.50.0%2F24")).toMatchObject({ status: 200, body: { id: 1 } });
    expect(await ask(fixture, "GET", "/subnets/1")).toMatchObject({ status: 404, body: { code: "subnet-unknown" } });
  });

  it("show the racks of a network that is relayed to them", async () => {
    fixture.racks = [rack("rack-1")];
    const relay = { servers: ["192.168.50.2"] };
    const relayed = { prefix: "10.9.0.0/24", domain: "far.example", mode: "static", dhcp: { relay } };
    expect(await ask(fixture, "POST", "/subnets", relayed)).toMatchObject({ status: 201, body: { racks: ["rack-1"] } });
    const elsewhere = { ...relayed, prefix: "10.9.1.0/24", dhcp: { relay: { servers: ["192.168.50.3"] } } };
    expect(await ask(fixture, "POST", "/subnets", elsewhere)).toMatchObject({ status: 201, body: { racks: [] } });
  });

  it("come in pages that neither repeat nor skip", async () => {
    for (let i = 0; i < 5; i++)
      await ask(fixture, "POST", "/subnets", { ...SUBNET, prefix: `10.0.${i}.0/24`, gateway: null, domain: `r${i}.example` });
    const seen: number[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const page = (await ask(fixture, "GET", `/subnets?limit=2${after === "" ? "" : `&after=${after}`}`)).body as {
        items: { id: number }[];
        next: string | null;
      };
      seen.push(...page.items.map(({ id }) => id));
      after = page.next;
    }
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("machines", () => {
  const NIC = "02:00:00:00:00:01";

  it("are sighted, enrolled, found and released", async () => {
    await ask(fixture, "POST", "/subnets", SUBNET);
    fixture.racks = [rack("rack-1", { reports: [lease("169.254.16.9")] })];
    expect(await ask(fixture, "GET", "/machines")).toMatchObject({
      status: 200,
      body: { items: [{ id: null, state: "sighted", nics: [NIC], rack: "rack-1", leases: [{ address: "169.254.16.9" }] }] },
    });
    const enrolled = await ask(fixture, "POST", "/machines/enroll", { nics: ["02-00-00-00-00-01"], name: "node-1", subnet: "1" });
    expect(enrolled).toMatchObject({
      status: 201,
      body: {
        created: true,
        machine: { state: "enrolled", nics: [NIC], leases: [{ address: "169.254.16.9" }] },
        allocation: { name: "node-1.rack1.example" },
      },
    });
    const { allocation, machine } = enrolled.body as { allocation: { address: string }; machine: { id: string } };
    for (const reference of [machine.id, "node-1", "NODE-1", NIC, "0200.0000.0001", allocation.address, "169.254.16.9"])
      expect(await ask(fixture, "GET", `/machines/${reference}`)).toMatchObject({ status: 200, body: { id: machine.id } });
    expect(await ask(fixture, "GET", "/machines")).toMatchObject({ body: { items: [{ state: "enrolled" }] } });
    expect(await ask(fixture, "GET", "/allocations?subnet=192.168.50.0%2F24")).toMatchObject({
      body: { items: [{ address: allocation.address, machineId: machine.id, subnet: "192.168.50.0/24" }] },
    });
    expect(await ask(fixture, "POST", "/machines/node-1/release", {})).toMatchObject({
      status: 200,
      body: { state: "released", addresses: [] },
    });
    expect(await ask(fixture, "GET", "/allocations")).toMatchObject({ body: { items: [] } });
    expect(await ask(fixture, "GET", "/machines?state=enrolled")).toMatchObject({ body: { items: [] } });
  });

  it("are changed under the name of the token", async () => {
    await ask(fixture, "POST", "/subnets", SUBNET);
    await ask(fixture, "POST", "/machines/enroll", { nics: [NIC], name: "node-1", subnet: "1" });
    await ask(fixture, "POST", "/machines/node-1/release", {});
    const written = await fixture.store.audit.list(0, 10);
    expect(written.map(({ action, actor }) => [action, actor])).toEqual([
      ["create-subnet", "token admin"],
      ["enroll-machine", "token admin"],
      ["release-machine", "token admin"],
    ]);
  });

  it("get the same address from the same request", async () => {
    await ask(fixture, "POST", "/subnets", SUBNET);
    const request = { nics: [NIC], subnet: "192.168.50.0/24" };
    const first = await ask(fixture, "POST", "/machines/enroll", request);
    const second = await ask(fixture, "POST", "/machines/enroll", request);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body).toMatchObject({ created: false, allocation: (first.body as { allocation: object }).allocation });
  });

  it("are no longer sighted once the lease has lapsed by the clock, even if the rack is silent", async () => {
    fixture.racks = [rack("rack-1", { connected: false, reports: [lease("169.254.16.9", { ends: NOW / 1000 + 60 })] })];
    expect(await ask(fixture, "GET", "/machines?state=sighted")).toMatchObject({
      body: { items: [{ leases: [{ stale: true }] }] },
    });
    fixture.nowMs = NOW + 61_000;
    expect(await ask(fixture, "GET", "/machines")).toMatchObject({ body: { items: [] } });
  });
});

describe("leases", () => {
  beforeEach(() => {
    fixture.racks = [
      rack("rack-1", {
        reports: [
          lease("192.168.50.100", { dnsLabel: "alpha" }),
          lease("192.168.50.9", { state: "expired", inUse: false, hardwareAddress: mac("02:00:00:00:00:02") }),
        ],
      }),
      rack("rack-2", { reports: [lease("10.0.0.7", { hardwareAddress: mac("52:54:00:00:00:03") })] }),
    ];
  });

  it.each([
    ["", ["10.0.0.7", "192.168.50.9", "192.168.50.100"]],
    ["?address=50.1", ["192.168.50.100"]],
    ["?mac=00-02", ["192.168.50.9"]],
    ["?mac=52:54", ["10.0.0.7"]],
    ["?name=LPH", ["192.168.50.100"]],
    ["?rack=rack-2", ["10.0.0.7"]],
    ["?rack=id-rack-1&state=active", ["192.168.50.100"]],
    ["?inUse=false", ["192.168.50.9"]],
    ["?address=10.9", []],
  ])("match %s", async (query, addresses) => {
    const { body } = await ask(fixture, "GET", `/leases${query}`);
    expect((body as { items: { address: string }[] }).items.map(({ address }) => address)).toEqual(addresses);
  });
});

describe("racks, tokens, problems, status", () => {
  const daemon = {
    name: "dhcpd" as const,
    state: "failing" as const,
    desired: "a",
    written: "a",
    running: null,
    generation: null,
  };
  const problem = { code: "dhcpd-down", at: "dhcpd", message: "dhcpd ended", remedy: "see its log" };

  it("shows a rack by name and id, with its daemons, and forgets it", async () => {
    fixture.racks = [rack("rack-1", { accepted: 3, daemons: [{ ...daemon, problems: [problem] }] })];
    const shown = await ask(fixture, "GET", "/racks/rack-1");
    expect(shown).toMatchObject({
      status: 200,
      body: {
        id: "id-rack-1",
        connected: true,
        acceptedGeneration: 3,
        converged: false,
        addresses: [{ address: "192.168.50.2", prefixLength: 24 }],
      },
    });
    expect(await ask(fixture, "GET", "/racks")).toMatchObject({ body: { items: [shown.body] } });
    expect(await ask(fixture, "DELETE", "/racks/id-rack-1")).toMatchObject({ status: 200 });
    expect(fixture.removed).toEqual(["id-rack-1"]);
    expect(await ask(fixture, "GET", "/racks/rack-1")).toMatchObject({ status: 404, body: { code: "rack-unknown" } });
  });

  it("lists the problems of plan, racks and daemons, page by page", async () => {
    fixture.planProblems = [{ code: "no-server", at: "192.168.50.0/24", message: "nobody serves it" }];
    fixture.racks = [
      rack("rack-1", { problems: [{ ...problem, code: "leases-unreadable" }], daemons: [{ ...daemon, problems: [problem] }] }),
    ];
    const { body } = await ask(fixture, "GET", "/problems?limit=2");
    expect(body).toMatchObject({
      items: [
        { source: "plan", rack: null },
        { source: "rack", rack: "rack-1", code: "leases-unreadable" },
      ],
      next: "2",
    });
    expect(await ask(fixture, "GET", "/problems?limit=2&after=2")).toMatchObject({
      body: { items: [{ source: "daemon", daemon: "dhcpd", remedy: "see its log" }], next: null },
    });
    expect(await ask(fixture, "GET", "/status")).toMatchObject({
      body: { racks: { all: 1, connected: 1, converged: 0 }, problems: [{}, {}, {}], machines: { sighted: 0 } },
    });
  });

  it("makes a join line", async () => {
    const made = await ask(fixture, "POST", "/tokens", { rack: "rack-1", ttlSeconds: 60 });
    expect(made).toMatchObject({ status: 201, body: { rack: "rack-1", expiresAt: new Date(NOW + 60_000).toISOString() } });
    expect(fixture.tokens).toEqual([{ rack: "rack-1", ttlSeconds: 60, replace: false }]);
  });

  it("tells whether it is alive and ready, without a token, and its version", async () => {
    for (const path of ["/healthz", "/api/v1/healthz", "/readyz", "/api/v1/readyz"])
      expect((await fixture.api.inject({ url: path })).json()).toEqual({ status: "ok", problems: [] });
    fixture.unready = [{ code: "store-unreadable", at: "ledger", message: "the database is not open yet" }];
    const unready = await fixture.api.inject({ url: "/readyz" });
    expect([unready.statusCode, unready.json()]).toEqual([503, { status: "unready", problems: fixture.unready }]);
    expect(await ask(fixture, "GET", "/version")).toMatchObject({ body: { version: "0.1.0", api: "v1", protocol: 1 } });
  });
});
