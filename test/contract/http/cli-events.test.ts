import { ipAddress } from "@berth/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createApi } from "../../../packages/coordinator/src/http/create-api.js";
import { listenOnAddress } from "../../../packages/coordinator/src/http/listen-api.js";
import { waitUntil } from "../../lab/wait-until.js";
import { ADMIN_TOKEN, ask, SUBNET } from "./api-fixture.js";
import { createCliFixture, runBerth, type CliFixture } from "./cli-fixture.js";

let fixture: CliFixture;
beforeEach(async () => {
  fixture = await createCliFixture();
});
afterEach(() => fixture.close());

async function happen(): Promise<void> {
  await ask(fixture, "POST", "/subnets", SUBNET);
  const move = { site: "default", address: ipAddress("192.168.50.9"), from: "r1", to: "r2", at: 5 };
  await fixture.store.topology.save({ racks: [], goneRacks: [], addresses: [], goneAddresses: [], moves: [move], seenAt: 5 });
}

it("tells what there is and ends", async () => {
  expect(await fixture.berth(["events"])).toEqual({ code: 0, stdout: "", stderr: "" });
  await happen();
  const { code, stdout } = await fixture.berth(["events"]);
  expect(code).toBe(0);
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["1.0", "2026-11-30T12:00:00.000Z", "token admin", "create-subnet", expect.stringContaining("subnet 1")],
    ["1.1", "1970-01-01T00:00:00.005Z", "-", "vip-move", "default 192.168.50.9 r1 -> r2"],
    [""],
  ]);
  const since = await fixture.berth(["events", "--since", "1.0", "-o", "json"]);
  const [only, ...rest] = since.stdout.split("\n");
  expect(rest).toEqual([""]);
  expect(JSON.parse(only ?? "")).toMatchObject({ id: "1.1", event: "vip-move", data: { to: "r2" } });
  expect((await fixture.berth(["events", "--since", "1.1"])).stdout).toBe("");
  expect((await fixture.berth(["events", "-o", "yaml"])).stdout).toMatch(/^---\nid: "?1\.0/);
});

it("refuses what is no id, and what the coordinator refuses", async () => {
  expect((await fixture.berth(["events", "--since", "yesterday"])).code).toBe(2);
  const stranger = await fixture.berth(["events", "--follow"], { BERTH_TOKEN: "nobody" });
  expect([stranger.code, stranger.stdout]).toEqual([1, ""]);
  const away = await fixture.berth(["events", "--follow"], { BERTH_URL: `unix:${fixture.folder}/none.sock` });
  expect([away.code, away.stderr]).toEqual([3, expect.stringContaining("coordinator-unreachable")]);
});

it("follows over a restart of the coordinator, each event once, and ends with 0 at Ctrl-C", async () => {
  const before = await createApi(fixture.ports);
  const endpoint = await listenOnAddress(before, "127.0.0.1", 0);
  const interrupt = new AbortController();
  const written = { stdout: "", stderr: "" };
  const env = { BERTH_URL: endpoint.url, BERTH_TOKEN: ADMIN_TOKEN };
  await ask(fixture, "POST", "/subnets", SUBNET);
  const args = ["events", "-f", "--since", "0.0", "--json"];
  const running = runBerth(args, env, () => fixture.nowMs, interrupt.signal, written);
  const ids = (): string[] => [...written.stdout.matchAll(/"id":"([0-9.]+)"/g)].map(([, id]) => id ?? "");
  await waitUntil(() => ids().length === 1, { describe: "the first event" });
  await Promise.all([before.close(), endpoint.close()]);
  await ask(fixture, "POST", "/machines/enroll", { nics: ["02:00:00:00:00:01"], subnet: "1" });
  await waitUntil(() => written.stderr.includes("is away"), { describe: "berth says that it waits" });
  const after = await createApi(fixture.ports);
  const again = await listenOnAddress(after, "127.0.0.1", Number(new URL(endpoint.url).port));
  await waitUntil(() => ids().length === 2, { describe: "what was missed", deadlineMs: 30_000 });
  interrupt.abort();
  expect((await running).code).toBe(0);
  expect(ids()).toEqual(["1.0", "2.0"]);
  await Promise.all([after.close(), again.close()]);
});
