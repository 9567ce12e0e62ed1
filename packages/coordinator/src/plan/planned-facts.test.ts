import { ipAddress, planRacks, slicesIn, ZoneComposer, type PlanSources, type RackView } from "@berth/core";
import { silentLog } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import fc from "fast-check";
import { expect, test } from "vitest";
import { leaseOf, MINUTE, nic, NOON, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { openLedger } from "../ledger/open-ledger.js";
import { createMemoryStore, MemoryDisk } from "../store/memory-store.js";
import { ContentDigests } from "./content-digest.js";
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

test("plans from what was kept of the ledger are those from the whole of it, and their digests too", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const { clock, ledger, racks, take } = await setUp();
      const facts = new PlannedFacts(ledger);
      ledger.onChange((changes) => facts.forget(changes));
      const [composer, digests] = [new ZoneComposer(), new ContentDigests()];
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
        for (const [index, { racks: contents, zones }] of kept.sites.entries())
          for (const content of contents) {
            const digest = digests.of(content.rack, { ...content, zones });
            const fresh = whole.sites[index];
            const same = fresh?.racks.find(({ rack }) => rack === content.rack);
            expect(digest).toBe(new ContentDigests().of(content.rack, { ...same, zones: fresh?.zones }));
          }
      }
    }),
    { numRuns: 40 },
  );
});
