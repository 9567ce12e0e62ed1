import { silentLog, systemClock } from "@berth/host";
import { expect, test } from "vitest";
import { createMemoryStore } from "../store/memory-store.js";
import { createRackRegistry, type RackRegistry } from "./rack-registry.js";

const session = { connection: 1, stream: "s", generation: 3, clockAheadMs: 0 };

async function twoRacks(now: () => number): Promise<RackRegistry> {
  const registry = await createRackRegistry({
    store: createMemoryStore(),
    clock: { ...systemClock, now },
    log: silentLog,
  });
  await registry.admit({ id: "r-1", name: "b", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "aa" });
  await registry.admit({ id: "r-2", name: "c", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "bb" });
  return registry;
}

test("the views are the same objects until a rack changes, and then new ones of that rack alone", async () => {
  let now = 10;
  const registry = await twoRacks(() => now);
  const before = registry.views();
  expect(registry.views()).toBe(before);
  const changes: (() => void)[] = [
    () => registry.open("r-1", session),
    () => (now = 11) && registry.heard("r-1"),
    () => registry.accept("r-1", 4),
    () => registry.observe("r-1", { type: "leases", sequence: 1, page: "whole", leases: [], gone: [] }),
    () => registry.close("r-1", 1),
  ];
  let last = before;
  for (const change of changes) {
    change();
    const views = registry.views();
    expect(views[0]).not.toBe(last[0]);
    expect(views[1]).toBe(before[1]);
    expect(views[0]).toBe(registry.view("r-1"));
    last = views;
  }
  expect(last[0]).toMatchObject({ connected: false, lastSeenAt: 11, accepted: 4 });
  expect(before[0]).toMatchObject({ connected: false, lastSeenAt: null, accepted: 0 });
});

test("a listener that looks while racks come, go and change their names sees them in order", async () => {
  const registry = await twoRacks(() => 10);
  const seen: string[] = [];
  registry.onChange(() =>
    seen.push(
      registry
        .views()
        .map(({ name }) => name)
        .join(),
    ),
  );
  await registry.admit({ id: "r-1", name: "d", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "aa" });
  await registry.admit({ id: "r-3", name: "a", site: "s", joinedAt: 5, certificateSerial: null, publicKeyHash: "cc" });
  await registry.remove("r-2");
  expect(seen).toEqual(["c,d", "a,c,d", "a,d"]);
});
