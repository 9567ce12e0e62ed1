import { ipAddress, type WireRecord } from "@berth/core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../../packages/coordinator/src/store/store.js";
import { nic, type StoreUnderTest } from "./store-contract.js";

function heard(address: string, at: number): WireRecord {
  const known = { hardwareAddresses: [nic("02:00:00:00:00:09")], confirmed: true, rack: "r1" };
  return { site: "default", address: ipAddress(address), seenAt: at, probedAt: at, ...known };
}

/** The promises of every engine and the fake about what was heard on the wires. */
export function wireContract(name: string, underTest: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps what was heard on the wires`, () => {
    let engine: StoreUnderTest;
    let store: Store;
    beforeEach(async () => {
      engine = await underTest();
      store = await engine.open();
    });
    afterEach(async () => {
      await store.close();
      await engine.discard();
    });

    test("newer records replace, gone ones go, sites are apart", async () => {
      expect(await store.wire.load()).toEqual({ records: [], mark: 0 });
      const first = [heard("192.168.50.9", 1), heard("192.168.50.10", 2), heard("2001:db8::9", 3)];
      await store.wire.save({ records: first, gone: [] });
      const nobody = { seenAt: null, hardwareAddresses: [], confirmed: false, rack: null };
      const other: WireRecord = { ...heard("192.168.50.10", 4), site: "other", ...nobody };
      await store.wire.save({ records: [heard("192.168.50.9", 5), other], gone: [heard("192.168.50.10", 2)] });
      await store.close();
      store = await engine.open();
      const { records: kept } = await store.wire.load();
      const sorted = kept.toSorted((a, b) => (a.probedAt ?? 0) - (b.probedAt ?? 0));
      expect(sorted).toEqual([heard("2001:db8::9", 3), other, heard("192.168.50.9", 5)]);
    });

    test("only what was saved after a mark is loaded, and all when the mark is of a later database", async () => {
      const [first, second] = [heard("192.168.50.9", 8), heard("192.168.50.10", 2)];
      await store.wire.save({ records: [first], gone: [] });
      const { mark } = await store.wire.load();
      expect(await store.wire.load(mark)).toEqual({ records: [], mark });
      await store.wire.save({ records: [second], gone: [] });
      const next = await store.wire.load(mark);
      expect(next.records).toEqual([second]);
      await store.wire.save({ records: [heard("192.168.50.9", 9)], gone: [second] });
      expect((await store.wire.load(next.mark)).records).toEqual([heard("192.168.50.9", 9)]);
      expect((await store.wire.load(next.mark + 1000)).records).toEqual([heard("192.168.50.9", 9)]);
    });
  });
}
