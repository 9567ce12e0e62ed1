import { ipAddress, parseHardwareAddress, WireRecords, type HardwareAddress, type WireRecord } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { followRacks } from "../../../packages/coordinator/src/racks/follow-racks.js";
import { createRackRegistry } from "../../../packages/coordinator/src/racks/rack-registry.js";
import { createPostgresStore } from "../../../packages/coordinator/src/store/postgres/postgres-store.js";
import { createWireKeeper } from "../../../packages/coordinator/src/wire/wire-keeper.js";
import { waitUntil } from "../../lab/wait-until.js";
import { PostgresServer } from "./postgres-server.js";

const ports = { clock: systemClock, log: silentLog };
const windowMs = 7 * 24 * 3_600_000;
let server: PostgresServer;
let ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  server = await PostgresServer.create(["fsync=off"]);
});
afterEach(async () => {
  await Promise.all(ends.map((end) => end()));
  ends = [];
});
afterAll(() => server.remove());

function nic(number: number): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:00:00:${String(number).padStart(2, "0")}`);
  if (address === null) throw new Error("not a NIC");
  return address;
}

/** What one of several coordinators runs of its ledger and of the wires, with the racks or standing by. */
async function start(url: string, hasRacks: boolean) {
  const store = await createPostgresStore(url, ports);
  const registry = await createRackRegistry({ store, ...ports });
  const { records: loaded, mark } = await store.wire.load();
  const records = new WireRecords(loaded);
  const ledger = await openLedger({ ...ports, store, racks: () => registry.views(), wire: records, wireWindowMs: windowMs });
  const keeper = createWireKeeper({ ...ports, records, mark, ledger, registry, store: store.wire, windowMs });
  const ending = new AbortController();
  const wires = hasRacks ? keeper.run(ending.signal) : followRacks([registry, keeper], ports, ending.signal);
  const running = Promise.all([ledger.run(ending.signal), wires]);
  ends.push(async () => {
    ending.abort();
    await running;
    await ledger.settled();
    await store.close();
  });
  return { registry, ledger, keeper, records };
}

test("a coordinator that stands by gives no address that the one with the racks has seen in use since", async () => {
  const url = server.url(await server.createDatabase("wires"));
  const holder = await start(url, true);
  const standby = await start(url, false);
  await holder.registry.admit({
    ...{ id: "r-1", name: "rack-1", site: "default", joinedAt: 5 },
    ...{ certificateSerial: null, publicKeyHash: "aa" },
  });
  await holder.ledger.createSubnet({ prefix: "192.0.2.0/28", domain: "rack.example", mode: "static" });
  const hear = (address: string, holders: HardwareAddress[]): void => {
    const at = Date.now();
    const answer = { address: ipAddress(address), hardwareAddresses: holders, at, how: "probe" as const };
    holder.keeper.hear("r-1", { type: "wire", answers: [answer], now: at });
  };
  const known = (address: string): Promise<boolean> =>
    waitUntil(() => standby.records.get("default", ipAddress(address)) !== undefined, {
      describe: `${address} on the coordinator that stands by`,
      deadlineMs: 30_000,
    });
  hear("192.0.2.1", [nic(7)]);
  await known("192.0.2.1");
  await waitUntil(() => standby.ledger.subnets().length === 1, { describe: "the subnet on the one that stands by" });
  const first = await standby.ledger.enroll({ nics: [nic(1)], subnet: "1" });
  expect(first).toMatchObject({ ok: true, value: { allocation: { address: "192.0.2.2" } } });
  hear("192.0.2.3", [nic(8)]);
  hear("192.0.2.4", []);
  await known("192.0.2.4");
  const second = await standby.ledger.enroll({ nics: [nic(2)], subnet: "1" });
  if (!second.ok) throw new Error("refused");
  expect(second.value.allocation.address).toBe("192.0.2.4");
  expect(standby.keeper.verification(second.value.allocation)).toBe("verified");
  const asked = await standby.ledger.enroll({ nics: [nic(3)], subnet: "1", address: ipAddress("192.0.2.3") });
  expect(asked).toMatchObject({ ok: false, problems: [{ code: "address-held-by-stranger" }] });
});

test("of saves that two coordinators make at the same moment a reader misses none", async () => {
  const url = server.url(await server.createDatabase("saves"));
  const [reader, ...writers] = await Promise.all(Array.from({ length: 3 }, () => createPostgresStore(url, ports)));
  ends.push(...[reader, ...writers].map((store) => async () => store?.close()));
  const nobody = { site: "default", seenAt: null, hardwareAddresses: [], confirmed: false, rack: null, probedAt: 1 };
  const all = Array.from({ length: 120 }, (_, number): WireRecord => ({ ...nobody, address: ipAddress(`192.0.2.${number}`) }));
  const found: string[] = [];
  let mark = 0;
  const look = async (): Promise<void> => {
    const loaded = await reader?.wire.load(mark);
    found.push(...(loaded?.records ?? []).map(({ address }) => address));
    mark = loaded?.mark ?? mark;
  };
  let saving = true;
  const saves = writers.map(async (store, writer) => {
    for (const [number, record] of all.entries())
      if (number % 2 === writer) await store.wire.save({ records: [record], gone: [] });
  });
  const done = Promise.all(saves).finally(() => (saving = false));
  while (saving) await look();
  await done;
  await look();
  expect([...new Set(found)].sort()).toEqual(all.map(({ address }) => address as string).sort());
});
