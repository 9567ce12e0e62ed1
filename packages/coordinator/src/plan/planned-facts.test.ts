import { canonicalJson, ipAddress, planRacks, slicesIn, ZoneComposer, type PlanSources, type RackView } from "@berth/core";
import { silentLog } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import fc from "fast-check";
import { expect, test } from "vitest";
import { leaseOf, MINUTE, nic, NOON, rackOf } from "../../../../test/fixtures/alloc/build.js";
import type { Ledger } from "../ledger/ledger.js";
import { openLedger } from "../ledger/open-ledger.js";
import { desiredRecordOf, type DesiredRow } from "../store/desired-rows.js";
import type { DesiredRecord } from "../store/store.js";
import { createMemoryStore, MemoryDisk } from "../store/memory-store.js";
import { PlanMemory } from "./plan-memory.js";
import { PlanNumbers } from "./plan-numbers.js";
import { PlannedFacts } from "./planned-facts.js";

const machine = fc.integer({ min: 1, max: 9 });
const subnet = fc.constantFrom("1", "2", "3");
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("enroll" as const), machine, subnet, named: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("release" as const), machine }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("vip" as const), machine, subnet }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rename" as const), machine }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("record" as const), value: fc.constantFrom("one", "two", "three") }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("domain" as const), domain: fc.constantFrom("a.example", "b.example") }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("lease" as const), address: fc.integer({ min: 1, max: 30 }), machine }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const OWN = ["10.0.1.2/27", "10.0.2.2/27"];

async function setUp() {
  const clock = createFakeClock(NOON);
  const world = { racks: [rackOf("r1", OWN), rackOf("r2", ["10.0.1.3/27"])] };
  const racks = (): readonly RackView[] => world.racks;
  const ledger = await openLedger({ clock, log: silentLog, store: createMemoryStore(new MemoryDisk()), racks });
  const window = { first: ipAddress("10.0.1.8"), last: ipAddress("10.0.1.12") };
  await ledger.createSubnet({ prefix: "10.0.1.0/27", domain: "a.example", mode: "window", window });
  await ledger.createSubnet({ prefix: "10.0.2.0/27", domain: "b.example", mode: "static" });
  await ledger.createSubnet({ prefix: "10.0.3.0/27", domain: "b.example", mode: "static" });
  const take = async (next: Step): Promise<unknown> => {
    switch (next.kind) {
      case "restart":
        return null;
      case "enroll":
        return ledger.enroll({ nics: [nic(next.machine)], subnet: next.subnet, name: next.named ? `n${next.machine}` : null });
      case "release":
        return ledger.release(nic(next.machine));
      case "vip":
        return ledger.allocate({ kind: "vip", subnet: next.subnet, owners: [nic(next.machine)], name: `v${next.machine}` });
      case "rename":
        return ledger.changeMachine(nic(next.machine), { name: `other${next.machine}` });
      case "record":
        return ledger.addRecord({ name: `${next.value}.a.example`, type: "TXT", value: next.value });
      case "domain":
        return ledger.changeSubnet(2, { domain: next.domain });
      case "lease": {
        const lease = leaseOf(ipAddress(`10.0.1.${next.address}`), nic(next.machine), { ends: "never" });
        return (world.racks = [rackOf("r1", OWN, [lease]), rackOf("r2", ["10.0.1.3/27"])]);
      }
    }
  };
  return { clock, ledger, racks, take };
}

const SITE = "default";

function planning(ledger: Ledger, memory: PlanMemory) {
  return { facts: new PlannedFacts(ledger), composer: new ZoneComposer(), memory, numbers: new PlanNumbers(memory) };
}

/** What a store gives back of it. */
function reloaded(memory: PlanMemory): PlanMemory {
  const records = [...memory.states()].flatMap(({ rack }) => memory.recordOf(rack) ?? []);
  const again = new PlanMemory();
  const serials = [...memory.serialsOf(SITE)].map(([origin, number]) => ({ site: SITE, origin, ...number }));
  again.keep(records.map(rowOf).map(desiredRecordOf), serials);
  expect([...again.states()]).toEqual([...memory.states()]);
  return again;
}

function rowOf({ whole, state, digest, change }: DesiredRecord): DesiredRow {
  if (change === null) return { state: JSON.stringify(state), digest, change: null, change_digest: null };
  return { state: JSON.stringify(whole), digest: change.base.digest, change: JSON.stringify(change), change_digest: digest };
}

test("plans from what was kept of the ledger are those from the whole of it, and get a new number exactly when they differ from the last, over restarts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const { clock, ledger, racks, take } = await setUp();
      let { facts, composer, memory, numbers } = planning(ledger, new PlanMemory());
      ledger.onChange((changes) => facts.forget(changes));
      for (const next of steps) {
        await take(next);
        if (next.kind === "restart") ({ facts, composer, memory, numbers } = planning(ledger, reloaded(memory)));
        await clock.advance(MINUTE);
        const rest = {
          subnets: ledger.subnets(),
          reservations: ledger.reservations(),
          records: ledger.records(),
          racks: racks(),
        };
        const policy = { forwarders: [], mailbox: null, ntpUpstreams: [] };
        const plan = (from: Pick<PlanSources & { facts: unknown }, "facts"> | object) =>
          planRacks({ ...rest, now: clock.now(), policy, ...from } as PlanSources, slicesIn([]));
        const kept = plan({ facts, composer });
        const whole = plan({ allocations: ledger.allocations(), quarantines: ledger.quarantines() });
        expect(kept).toEqual(whole);
        const before = new Map([...memory.states()].map((state) => [state.rack, state]));
        const { desired, serials } = numbers.number(kept, racks(), clock.now());
        memory.keep(desired, serials);
        for (const { racks: contents, zones } of whole.sites)
          for (const content of contents) {
            const [last, state] = [before.get(content.rack), memory.stateOf(content.rack)];
            if (state === null) throw new Error("every rack has a state");
            expect(state).toMatchObject({ ...content, zones });
            expect(state.zones).toHaveLength(zones.length);
            const isSame =
              last !== undefined && canonicalJson({ ...last, generation: 0 }) === canonicalJson({ ...state, generation: 0 });
            expect(state.generation).toBe((last?.generation ?? 0) + (isSame ? 0 : 1));
          }
      }
    }),
    { numRuns: 40 },
  );
});
