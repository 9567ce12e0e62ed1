import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, systemClock } from "@berth/host";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createSqliteStore } from "../../../packages/coordinator/src/store/sqlite-store.js";
import type { Store } from "../../../packages/coordinator/src/store/store.js";
import { waitUntil } from "../../lab/wait-until.js";
import { admit, createLinkWorld, makeToken, type LinkWorld } from "./link-world.js";
import { lease, nic, startRack } from "./test-rack.js";

let folder: string;
let store: Store;
let world: LinkWorld;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-link-"));
  store = await createSqliteStore(folder, { clock: systemClock, log: silentLog });
  world = await createLinkWorld("over TLS", systemClock, store);
});

afterEach(async () => {
  await world.stop();
  await store.close();
  rmSync(folder, { recursive: true });
});

it("what a rack reported is there after the coordinator's database was closed and opened again", async () => {
  const identity = await admit(world, "r1");
  const rack = startRack(world, identity);
  rack.link.reportHost({ interfaces: [nic("eth0", "192.0.2.1")], knowledge: null });
  rack.leases.set("a", lease("192.0.2.7"));
  rack.link.renewLeases();
  const view = () => world.registry().view(identity.rack);
  await waitUntil(view, {
    describe: "reports merged",
    until: (seen) => seen?.interfaces.length === 1 && seen.leases.size === 1,
  });
  await rack.stop();
  await world.stop();
  await store.close();

  store = await createSqliteStore(folder, { clock: systemClock, log: silentLog });
  world = await createLinkWorld("over TLS", systemClock, store);
  expect(view()).toMatchObject({ name: "r1", connected: false, interfaces: [nic("eth0", "192.0.2.1")] });
  expect([...(view()?.leases.values() ?? [])]).toEqual([lease("192.0.2.7")]);
});

it("a token is spent, and a removed rack gone, for good", async () => {
  const identity = await admit(world, "r1");
  expect((await store.tokens.list())[0]?.usedBy).toBe(world.registry().record(identity.rack)?.publicKeyHash);
  const rack = startRack(world, identity);
  rack.link.reportHost({ interfaces: [nic("eth0", "192.0.2.1")], knowledge: null });
  await waitUntil(() => world.registry().view(identity.rack)?.interfaces.length, { describe: "report merged" });
  await world.registry().remove(identity.rack);
  await waitUntil(() => rack.link.status().problem?.code, { describe: "refused", until: (code) => code === "rack-unknown" });
  await rack.stop();
  await world.restart();
  expect(world.registry().records()).toEqual([]);
  expect(await store.racks.list()).toEqual([]);
  expect((await store.reports.load()).size).toBe(0);
});

it("old tokens are cleared away when a new one is made", async () => {
  const hourAgo = { ...systemClock, now: () => Date.now() - 2 * 3_600_000 };
  await makeToken({ store, clock: hourAgo });
  const [id] = (await makeToken(world)).split(".");
  expect((await store.tokens.list()).map((token) => token.id)).toEqual([id]);
});
