import { fc, test as property } from "@fast-check/vitest";
import { findAmong, ipAddress, rackLabel, type Observation, type RackFinder } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
import { expect } from "vitest";
import { interfaceOf, leaseOf, nic } from "../../../../test/fixtures/alloc/build.js";
import { createMemoryStore } from "../store/memory-store.js";
import { createRackRegistry, type RackRegistry } from "./rack-registry.js";

const IDS = ["r-1", "r-2", "r-3"] as const;
/** Of each rack, because a name is one rack's in a region; two of them have one label. */
const NAMES = { "r-1": ["a", "m.n"], "r-2": ["b", "m-n"], "r-3": ["c", "d"] } as const;
const ADDRESSES = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "2001:db8::1"].map((text) => ipAddress(text));
const NICS = [nic(1), nic(2)];

const id = fc.constantFrom(...IDS);
const address = fc.constantFrom(...ADDRESSES);
const lease = fc.tuple(address, fc.constantFrom(...NICS, null)).map(([at, holder]) => leaseOf(at, holder));
const leases = fc.record({
  type: fc.constant("leases" as const),
  page: fc.constantFrom("whole", "begin", "more", "end", "delta"),
  leases: fc.array(lease, { maxLength: 3 }),
  gone: fc.array(address, { maxLength: 2 }),
});
const interfaces = fc
  .array(fc.tuple(fc.constantFrom("eth0", "eth1"), fc.array(address, { maxLength: 3 })), { maxLength: 2 })
  .map((all) => ({
    type: "interfaces" as const,
    knowledge: null,
    interfaces: all.map(([name, own]) => interfaceOf(name, ...own.map((text) => `${text}/24`))),
  }));
const rare = 1;
const usual = 8;
const step = fc.oneof(
  { weight: rare, arbitrary: fc.record({ act: fc.constant("admit" as const), id, name: fc.constantFrom(0, 1) }) },
  { weight: rare, arbitrary: fc.record({ act: fc.constant("remove" as const), id }) },
  { weight: rare, arbitrary: fc.record({ act: fc.constant("reload" as const), id }) },
  {
    weight: usual,
    arbitrary: fc.record({ act: fc.constant("observe" as const), id, observation: fc.oneof(leases, interfaces) }),
  },
);

property.prop([fc.array(step, { minLength: 1, maxLength: 40 })])(
  "racks are found by what they report as a look through all of them finds them, whatever comes, goes and is replaced",
  async (steps) => {
    const registry = await createRackRegistry({ store: createMemoryStore(), clock: systemClock, log: silentLog });
    for (const rack of IDS) await take(registry, { act: "admit", id: rack, name: 0 }, 0);
    for (const [sequence, each] of steps.entries()) {
      await take(registry, each, sequence + 1);
      expect(found(registry.finder)).toEqual(found(findAmong(() => registry.views())));
    }
  },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(registry: RackRegistry, each: Step, sequence: number): Promise<void> {
  const { id: rack } = each;
  if (each.act === "admit") {
    await registry.admit({
      id: rack,
      name: NAMES[rack][each.name],
      site: "s",
      joinedAt: 5,
      certificateSerial: null,
      publicKeyHash: rack,
    });
  } else if (each.act === "remove") await registry.remove(rack);
  else if (each.act === "reload") await registry.reload();
  else if (registry.record(rack) !== null) registry.observe(rack, { ...each.observation, sequence } as Observation);
}

function found(finder: RackFinder): unknown {
  const named = (racks: readonly { readonly name: string }[]): readonly string[] => racks.map(({ name }) => name);
  return [
    named(finder.all()),
    ADDRESSES.map((each) => named(finder.holding(each))),
    [...NICS.map((each) => [each]), NICS].map((each) => named(finder.seeing(each))),
    Object.values(NAMES)
      .flat()
      .map((name) => named(finder.labelled(rackLabel(name)))),
  ];
}
