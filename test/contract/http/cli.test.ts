import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createCliFixture, type CliFixture } from "./cli-fixture.js";
import { lease, rack } from "./api-fixture.js";

let fixture: CliFixture;
beforeEach(async () => {
  fixture = await createCliFixture();
});
afterEach(() => fixture.close());

const NIC = "02:00:00:00:00:01";

async function done(args: readonly string[]): Promise<string> {
  const run = await fixture.berth(args);
  expect(run.code, run.stderr).toBe(0);
  return run.stdout;
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse(await done([...args, "--json"])) as T;
}

describe("berth subnet", () => {
  it("creates, lists, shows, sets and removes", async () => {
    fixture.racks = [rack("rack-1")];
    const created = await done([
      ...["subnet", "create", "192.168.50.0/24", "--domain", "rack1.example", "--gateway", "192.168.50.1"],
      ...[
        "--window",
        "192.168.50.100-192.168.50.120",
        "--reserve",
        "192.168.50.10-192.168.50.19",
        "--reserve",
        "192.168.50.30-192.168.50.39",
      ],
      ...["--lease-time", "10m", "--max-lease-time", "1h"],
    ]);
    expect(created).toBe("declared subnet 1, 192.168.50.0/24, domain rack1.example, mode window\n");
    expect(await done(["subnet", "list"])).toBe(
      "ID   PREFIX            SITE      DOMAIN          GATEWAY        MODE     DYNAMIC                         ALLOCATED   RACKS\n" +
        "1    192.168.50.0/24   default   rack1.example   192.168.50.1   window   192.168.50.100-192.168.50.120   0           rack-1\n",
    );
    expect(await json("subnet", "show", "192.168.50.0/24")).toMatchObject({
      leaseTime: 600,
      maxLeaseTime: 3600,
      reserved: [{ first: "192.168.50.10" }, { first: "192.168.50.30" }],
    });
    const changed = await done([
      "subnet",
      "set",
      "1",
      "--mode",
      "static",
      "--window",
      "none",
      "--gateway",
      "none",
      "--dns",
      "192.0.2.1",
      "--dns",
      "192.0.2.2",
    ]);
    expect(changed).toMatch(/^Gateway: +-$/m);
    expect(changed).toMatch(/^Window: +-$/m);
    expect(changed).toMatch(/^DNS: +192\.0\.2\.1, 192\.0\.2\.2$/m);
    expect(await done(["subnet", "remove", "192.168.50.0/24"])).toBe("removed subnet 1, 192.168.50.0/24\n");
    expect(await fixture.berth(["subnet", "list"])).toEqual({ code: 0, stdout: "", stderr: "no subnets\n" });
  });

  it("declares an enlistment pool, and takes the mode from what is named", async () => {
    await done([
      "subnet",
      "create",
      "10.1.0.0/24",
      "--domain",
      "a.example",
      "--pool",
      "169.254.0.0/16",
      "--slice-length",
      "20",
      "--enlist-lease",
      "90s",
    ]);
    await done(["subnet", "create", "10.2.0.0/24", "--domain", "b.example"]);
    const { items } = await json<{ items: object[] }>("subnet", "list");
    expect(items).toMatchObject([
      { mode: "link-local", enlistment: { pool: "169.254.0.0/16", sliceLength: 20, leaseTime: 90 } },
      { mode: "off", enlistment: null },
    ]);
  });
});

describe("berth machine", () => {
  it("lists sightings, enrolls, shows and releases", async () => {
    await done(["subnet", "create", "192.168.50.0/24", "--domain", "rack1.example", "--mode", "link-local"]);
    fixture.racks = [rack("rack-1", { reports: [lease("169.254.16.9")] })];
    expect(await done(["machine", "list", "-o", "wide"])).toMatch(
      /^- +sighted +- +169\.254\.16\.9 +02:00:00:00:00:01 +rack-1 +30s +-$/m,
    );
    const enrolled = await done(["machine", "enroll", NIC, "--name", "node-1", "--address", "192.168.50.60"]);
    expect(enrolled).toMatch(/^Address: +192\.168\.50\.60 in 192\.168\.50\.0\/24$/m);
    expect(enrolled).toMatch(/^Name: +node-1\.rack1\.example$/m);
    expect(await done(["machine", "enroll", NIC, "--name", "node-1"])).toMatch(/already enrolled/);
    expect(await done(["machine", "list", "--state", "enrolled"])).toMatch(
      /^node-1 +enrolled +192\.168\.50\.60 +169\.254\.16\.9 /m,
    );
    expect(await done(["machine", "show", "192.168.50.60"])).toMatch(/^State: +enrolled$/m);
    expect(await done(["allocation", "list", "--subnet", "192.168.50.0/24"])).toMatch(
      /^192\.168\.50\.60 +node-1\.rack1\.example +machine /m,
    );
    expect(await done(["machine", "release", NIC])).toBe("released node-1\n");
    expect(await fixture.berth(["allocation", "list"])).toMatchObject({ code: 0, stdout: "" });
  });
});

describe("berth rack, lease, problem, token and status", () => {
  it("show what racks report", async () => {
    const problem = { code: "leases-unreadable", at: "dhcpd.leases", message: "cannot read it", remedy: "check its mode" };
    fixture.racks = [
      rack("rack-1", { problems: [problem], reports: [lease("192.168.50.100", { dnsLabel: "alpha" })] }),
      rack("rack-2", { connected: false }),
    ];
    const list = await done(["rack", "list", "-o", "wide"]);
    expect(list).toMatch(/^rack-1 +default +connected +192\.168\.50\.2 /m);
    expect(list).toMatch(/^rack-2 +default +silent /m);
    expect(await done(["rack", "show", "rack-1"])).toMatch(
      /leases-unreadable +dhcpd\.leases\n {4}cannot read it\n {4}remedy: check its mode$/m,
    );
    expect(await done(["lease", "list", "--mac", "00:01", "--in-use"])).toMatch(
      /^192\.168\.50\.100 +active +02:00:00:00:00:01 +alpha /m,
    );
    expect(await fixture.berth(["problem", "list"])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^rack-1 +leases-unreadable/m) as string,
      stderr: "",
    });
    expect(await done(["status"])).toMatch(/^Racks: +2, of which 1 connected, 0 running what they must$/m);
    expect(await done(["rack", "remove", "rack-1"])).toBe("removed rack rack-1, id-rack-1\n");
    expect(await fixture.berth(["problem", "list"])).toEqual({ code: 0, stdout: "", stderr: "no problems\n" });
  });

  it("prints the join line alone on stdout", async () => {
    expect(await fixture.berth(["token", "create", "--rack", "rack-1", "--ttl", "2h"])).toEqual({
      code: 0,
      stdout: "192.0.2.1:7443 id.secret sha256:00\n",
      stderr: "usable once until 2026-11-30T14:00:00.000Z\n",
    });
    expect((await fixture.berth(["token", "create", "--rack", "rack-1", "--replace"])).code).toBe(0);
    expect(fixture.tokens).toEqual([
      { rack: "rack-1", ttlSeconds: 7200, replace: false },
      { rack: "rack-1", ttlSeconds: 3600, replace: true },
    ]);
  });

  it("fetches every page of a long list", async () => {
    const reports = Array.from({ length: 4500 }, (_, i) => lease(`10.${i >> 8}.${i & 255}.7`));
    fixture.racks = [rack("rack-1", { reports })];
    const { items } = await json<{ items: { address: string }[] }>("lease", "list");
    expect(new Set(items.map(({ address }) => address)).size).toBe(4500);
  });
});

describe("output", () => {
  const hostile = "a\u001b[31mred\u009b2J\u202e\u0007\nline";
  /** Nothing in it makes YAML quote by itself. */
  const turned = "red\u202eder";

  it("escapes what a terminal would act upon, in every format, and stays readable by programs", async () => {
    fixture.racks = [rack("rack-1", { problems: [{ code: "odd", at: turned, message: hostile }] })];
    for (const format of ["table", "json", "yaml"]) {
      const { stdout } = await fixture.berth(["problem", "list", "-o", format]);
      expect(stdout.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
      expect(stdout).toContain("red");
    }
    for (const [format, read] of [
      ["json", (text: string): unknown => JSON.parse(text)],
      ["yaml", (text: string): unknown => parse(text)],
    ] as const) {
      const { stdout } = await fixture.berth(["problem", "list", "-o", format]);
      expect(read(stdout)).toMatchObject({ items: [{ at: turned, message: hostile }] });
    }
  });

  it("takes -o and --json before and after the command", async () => {
    for (const args of [
      ["-o", "json", "rack", "list"],
      ["rack", "list", "-o", "json"],
      ["--json", "rack", "list"],
      ["rack", "list", "--json"],
    ])
      expect(JSON.parse(await done(args))).toEqual({ items: [] });
    expect(parse(await done(["rack", "list", "-o", "yaml"]))).toEqual({ items: [] });
  });
});
