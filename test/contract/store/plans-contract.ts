import { DesiredDigests, diffDesired, ipAddress, type DesiredState } from "@berth/core";
import { sha256 } from "@berth/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PlanMemory } from "../../../packages/coordinator/src/plan/plan-memory.js";
import { PlanNumbers } from "../../../packages/coordinator/src/plan/plan-numbers.js";
import type { DesiredRecord, Store } from "../../../packages/coordinator/src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";

/** Generation 7 of rack r-1, as a version that saved states only whole did, under a digest of its own kind. */
export const desiredState: DesiredState = {
  format: 1,
  rack: "r-1",
  generation: 7,
  subnets: [],
  zones: [],
  queryFrom: [],
  forwarders: [],
};

/** What was saved is there after the upgrade, what differs is saved whole once, and then as its change. */
export async function checkUpgraded(open: () => Promise<Store>): Promise<void> {
  const digests = new DesiredDigests(sha256);
  const { generation: _, zones: __, ...content } = desiredState;
  const planned = (queryFrom: string[]) => {
    const racks = [{ ...content, queryFrom: queryFrom as DesiredState["queryFrom"] }];
    return { sites: [{ site: "default", zones: [], racks }], problems: [], changesAt: null };
  };
  for (const [prefix, generation] of [
    ["10.0.0.0/24", 8],
    ["10.0.1.0/24", 9],
  ] as const) {
    const store = await open();
    const memory = new PlanMemory();
    const { desired, serials } = await store.plans.load();
    memory.keep(desired, serials);
    const [last] = desired;
    if (last === undefined) throw new Error("the saved state is gone");
    expect(last.state.generation).toBe(generation - 1);
    const numbers = new PlanNumbers(memory);
    expect(numbers.number(planned([...last.state.queryFrom]), [], 0)).toEqual({ desired: [], serials: [] });
    const next = numbers.number(planned([prefix]), [], 0);
    const state = { ...last.state, generation, queryFrom: [prefix] } as DesiredState;
    const change = generation === 8 ? null : diffDesired(last.state, state, (of) => digests.of(of));
    const whole = generation === 8 ? state : last.state;
    expect(next.desired).toEqual([{ state, digest: digests.of(state), whole, change }]);
    await store.plans.save(next.desired, next.serials);
    expect((await store.plans.load()).desired).toEqual(next.desired);
    await store.close();
  }
}

/** The promises of every engine and the fake about desired states that differ little. */
export function plansContract(name: string, underTest: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps plans`, () => {
    let engine: StoreUnderTest;
    let store: Store;
    async function reopen(): Promise<void> {
      await store.close();
      store = await engine.open();
    }
    beforeEach(async () => {
      engine = await underTest();
      store = await engine.open();
    });
    afterEach(async () => {
      await store.close();
      await engine.discard();
    });

    const state = desiredState;
    test("keeps a desired state as what it changes of one that it has whole, until it has a newer one whole", async () => {
      const digests = new DesiredDigests(sha256);
      const changed = (whole: DesiredState, newest: DesiredState): DesiredRecord => {
        const change = diffDesired(whole, newest, (of) => digests.of(of));
        return { state: newest, digest: digests.of(newest), whole, change };
      };
      const [second, third] = [8, 9].map((generation) => ({
        ...state,
        generation,
        forwarders: [ipAddress(`192.0.2.${generation}`)],
      }));
      if (second === undefined || third === undefined) throw new Error("there are two");
      const whole = { state, digest: digests.of(state), whole: state, change: null };
      await store.plans.save([whole], []);
      for (const newest of [second, third]) {
        await store.plans.save([changed(state, newest)], []);
        await reopen();
        expect((await store.plans.load()).desired).toEqual([changed(state, newest)]);
      }
      const other = { ...third, generation: 10 };
      await store.plans.save([{ state: other, digest: digests.of(other), whole: other, change: null }], []);
      await reopen();
      expect((await store.plans.load()).desired).toEqual([
        { state: other, digest: digests.of(other), whole: other, change: null },
      ]);
      // What another coordinator saved meanwhile is no base for this change.
      const unrelated = changed({ ...state, generation: 9 }, { ...third, generation: 11 });
      const namesake = changed({ ...second, generation: 10 }, { ...third, generation: 12 });
      for (const { state: newest, digest, ...kept } of [unrelated, namesake]) {
        await store.plans.save([{ state: newest, digest, ...kept }], []);
        await reopen();
        expect((await store.plans.load()).desired).toEqual([{ state: newest, digest, whole: newest, change: null }]);
      }
      const last = { ...third, generation: 12 };
      await store.plans.save([changed(last, { ...last, generation: 13 })], []);
      await store.racks.remove(state.rack);
      await reopen();
      expect((await store.plans.load()).desired).toEqual([]);
    });
  });
}
