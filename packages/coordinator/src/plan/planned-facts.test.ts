import { canonicalJson, ipAddress, planRacks, slicesIn, ZoneComposer, type PlanSources, type RackView } from "@berth/core";
import { silentLog } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import fc from "fast-check";
import { expect, test } from "vitest";
import { leaseOf, MINUTE, nic, NOON, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { openLedger } from "../ledger/open-ledger.js";
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

test("plans from what was kept of the ledger are those from the whole of it, and get a new number exactly when they differ from the last", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const { clock, ledger, racks, take } = await setUp();
      const facts = new PlannedFacts(ledger);
      ledger.onChange((changes) => facts.forget(changes));
      const [composer, memory] = [new ZoneComposer(), new PlanMemory()];
      const numbers = new PlanNumbers(memory);
      for (const next of steps) {
        await take(next);
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
