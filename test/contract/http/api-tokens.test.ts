import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { silentLog } from "@berth/host";
import { openApiTokens } from "../../../packages/coordinator/src/http/api-tokens.js";
import { createMemoryStore, MemoryDisk } from "../../../packages/coordinator/src/store/memory-store.js";
import { ask, NOW, READ_TOKEN, SUBNET } from "./api-fixture.js";
import { createCliFixture, type CliFixture, type CliRun } from "./cli-fixture.js";

let fixture: CliFixture;
beforeEach(async () => {
  fixture = await createCliFixture();
});
afterEach(() => fixture.close());

async function create(...args: string[]): Promise<string> {
  const run = await fixture.berth(["api-token", "create", ...args]);
  expect(run.code, run.stderr).toBe(0);
  expect(run.stdout).toMatch(/^berth_[\w-]{43}\n$/);
  return run.stdout.trim();
}

const as = (token: string, ...args: string[]): Promise<CliRun> => fixture.berth(args, { BERTH_TOKEN: token });

describe("berth api-token", () => {
  it("makes tokens that may do what their role says, and writes changes down under their names", async () => {
    const [read, operate, admin] = [
      await create("reader"),
      await create("ci", "--role", "operate"),
      await create("boss", "--role", "admin"),
    ];
    const subnet = ["subnet", "create", "10.0.0.0/24", "--domain", "a.example"];
    expect(await as(read, "subnet", "list")).toMatchObject({ code: 0 });
    expect(await as(read, ...subnet)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("'reader' has the role read") as string,
    });
    expect(await as(operate, ...subnet)).toMatchObject({ code: 0 });
    for (const action of [
      ["api-token", "list"],
      ["api-token", "create", "mine"],
      ["api-token", "revoke", "boss"],
      ["token", "create"],
    ])
      expect(await as(operate, ...action)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("role-insufficient") as string,
      });
    expect(await as(admin, "api-token", "revoke", "ci")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^revoked ci, t-[0-9a-f]{12}\n$/) as string,
    });
    expect(await as(operate, "subnet", "list")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("token-invalid") as string,
    });
    const audit = await fixture.store.audit.list(0, 100);
    expect(audit.map(({ action, actor, subject }) => `${actor}: ${action} ${subject}`)).toEqual([
      "token admin: create-api-token reader",
      "token admin: create-api-token ci",
      "token admin: create-api-token boss",
      "token ci: create-subnet subnet 1 10.0.0.0/24",
      "token boss: revoke-api-token ci",
    ]);
  });

  it("keeps nothing of a token but its digest", async () => {
    const token = await create("secret");
    expect(JSON.stringify(await fixture.store.apiTokens.list())).not.toContain(token);
    expect(JSON.stringify(await fixture.store.audit.list(0, 10))).not.toContain(token);
    expect((await fixture.berth(["api-token", "list", "-o", "json"])).stdout).not.toContain(token);
    for (const file of readdirSync(fixture.dataFolder))
      expect(readFileSync(join(fixture.dataFolder, file)).includes(token), file).toBe(false);
  });

  it("lets a token lapse, and its name be used again", async () => {
    const token = await create("short", "--role", "operate", "--ttl", "1h");
    expect(await as(token, "status")).toMatchObject({ code: 0 });
    expect((await fixture.berth(["api-token", "list"])).stdout).toMatch(
      /^short +operate +0s +token admin +2026-11-30T13:00:00\.000Z +t-/m,
    );
    fixture.nowMs = NOW + 3_600_000;
    expect(await as(token, "status")).toMatchObject({ code: 1 });
    const next = await create("short");
    expect(await as(next, "status")).toMatchObject({ code: 0 });
    expect(await as(token, "status")).toMatchObject({ code: 1 });
  });

  it("refuses names that are taken, reserved or none, and roles that are none", async () => {
    await create("ci");
    for (const [name, code] of [
      ["ci", "token-name-taken"],
      ["admin", "token-name-taken"],
      ["Not A Name", "request-invalid"],
      ["x".repeat(64), "request-invalid"],
    ] as const)
      expect(await fixture.berth(["api-token", "create", name])).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringContaining(code) as string,
      });
    expect(await fixture.berth(["api-token", "create", "x", "--role", "root"])).toMatchObject({ code: 2 });
    expect(await fixture.berth(["api-token", "revoke", "nobody"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("api-token-unknown") as string,
    });
    expect(await fixture.berth(["api-token", "revoke", "admin"])).toMatchObject({ code: 1 });
    expect((await ask(fixture, "POST", "/api-tokens", { name: "x", role: "read", ttlSeconds: 1 })).status).toBe(400);
  });

  it("leaves the token of the first start alone", async () => {
    expect(await as(READ_TOKEN, "subnet", "list")).toMatchObject({ code: 0 });
    expect(await as(READ_TOKEN, "subnet", "create", SUBNET.prefix, "--domain", "a.example")).toMatchObject({ code: 1 });
    expect((await fixture.berth(["api-token", "list"])).stderr).toBe("no API tokens\n");
  });
});

describe("tokens of a database that others change, too", () => {
  it("are known soon after another coordinator made or revoked them", async () => {
    const disk = new MemoryDisk();
    let period = (): void => undefined;
    const clock = { now: () => NOW, monotonic: () => 0, sleep: () => new Promise<void>((resolve) => (period = resolve)) };
    const [here, there] = [
      await openApiTokens({ store: createMemoryStore(disk), clock, log: silentLog, fixed: [] }),
      await openApiTokens({ store: createMemoryStore(disk), clock, log: silentLog, fixed: [] }),
    ];
    const ending = new AbortController();
    const running = there.run(ending.signal);
    const made = await here.create({ name: "ci", role: "read" }, "test");
    const token = made.ok ? made.value.token : "";
    expect(there.identify(token)).toBeNull();
    period();
    await expect.poll(() => there.identify(token)).toEqual({ name: "ci", role: "read" });
    expect(here.identify(token)).toEqual({ name: "ci", role: "read" });
    await here.revoke("ci", "test");
    expect(here.identify(token)).toBeNull();
    period();
    await expect.poll(() => there.identify(token)).toBeNull();
    ending.abort();
    period();
    await running;
  });
});
