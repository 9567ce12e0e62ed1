import { fc, test as property } from "@fast-check/vitest";
import { describe, expect, it } from "vitest";
import { PersistentMap } from "./persistent-map.js";

const steps = fc.array(fc.tuple(fc.constantFrom("set", "delete"), fc.string({ maxLength: 2 }), fc.nat(9)), { maxLength: 200 });

describe("a persistent map", () => {
  property.prop([steps])("does what a Map does, and leaves older versions alone", (history) => {
    let map = PersistentMap.empty<number>();
    const model = new Map<string, number>();
    const versions: { map: PersistentMap<number>; model: Map<string, number> }[] = [];
    for (const [verb, key, value] of history) {
      map = verb === "set" ? map.set(key, value) : map.delete(key);
      if (verb === "set") model.set(key, value);
      else model.delete(key);
      versions.push({ map, model: new Map(model) });
    }
    for (const version of versions) {
      expect(version.map.size).toBe(version.model.size);
      expect(new Map(version.map.entries())).toEqual(version.model);
    }
  });

  it("keeps keys of equal hash apart", () => {
    // Among 200,000 keys about five pairs share one of 2^32 hashes, whatever the function.
    const keys = Array.from({ length: 200_000 }, (_, i) => `k${i}`);
    const map = keys.reduce((filled, key, i) => filled.set(key, i), PersistentMap.empty<number>());
    expect(keys.every((key, i) => map.get(key) === i)).toBe(true);
    expect(keys.reduce((left, key) => left.delete(key), map).size).toBe(0);
  });

  it("gives equal maps in one order, however they were made", () => {
    const keys = Array.from({ length: 1000 }, (_, i) => `k${i}`);
    const fill = (order: readonly string[]) =>
      order.reduce((filled, key) => filled.set(key, key.length), PersistentMap.empty<number>());
    expect([...fill(keys).entries()]).toEqual([...fill(keys.toReversed()).delete("k7").set("k7", 2).entries()]);
  });
});
