import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkLeases } from "../../fuzz/check-leases.js";
import { createRandom, mutate } from "../../fuzz/mutate.js";

const fixtures = fileURLToPath(new URL("../../fixtures/leases/", import.meta.url));
const samples = ["samples/", "cases/"].flatMap((folder) =>
  readdirSync(fixtures + folder)
    .filter((name) => name.endsWith(".leases"))
    .map((name) => new Uint8Array(readFileSync(fixtures + folder + name))),
);
/** Seeds of runs that failed once (none yet: two of runs that did not), each read again with the 40 that follow it. */
const seeds = JSON.parse(readFileSync(`${fixtures}fuzz-seeds.json`, "utf8")) as readonly number[];

describe("mutated leases files (the long run is test/fuzz/leases.ts)", () => {
  it.each(seeds)("from seed %d", (first) => {
    for (let seed = first; seed < first + 40; seed++) {
      const random = createRandom(seed * 2 + 1);
      expect({ seed, failure: checkLeases(mutate(samples, random), random) }).toEqual({ seed, failure: null });
    }
  });
});
