import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { checkLeases } from "./check-leases.js";
import { createRandom, mutate } from "./mutate.js";

/**
 * `npm run fuzz -- [BYTES [SEED]]`: mutates the recorded samples and the cases of the field until that many bytes (10,000,000) were read. A failure
 * prints its seed, which then belongs into `test/fixtures/leases/fuzz-seeds.json`.
 */
const fixtures = fileURLToPath(new URL("../fixtures/leases/", import.meta.url));
const samples = ["samples/", "cases/"].flatMap((folder) =>
  readdirSync(fixtures + folder)
    .filter((name) => name.endsWith(".leases"))
    .map((name) => new Uint8Array(readFileSync(fixtures + folder + name))),
);
const wanted = Number(process.argv[2] ?? 10_000_000);
const firstSeed = Number(process.argv[3] ?? (Date.now() >>> 0) % 1_000_000_000);
process.stdout.write(`seed ${firstSeed}, ${wanted} bytes of ${samples.length} samples\n`);

let read = 0;
let files = 0;
let failures = 0;
let slowest = { perByte: 0, seed: 0 };
for (let seed = firstSeed; read < wanted; seed++) {
  const random = createRandom(seed * 2 + 1);
  const bytes = mutate(samples, random);
  const started = performance.now();
  let failure: string | null;
  try {
    failure = checkLeases(bytes, random);
  } catch (error) {
    failure = `threw ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
  const perByte = (performance.now() - started) / bytes.length;
  if (bytes.length > 2000 && perByte > slowest.perByte) slowest = { perByte, seed };
  if (failure !== null) {
    failures++;
    process.stdout.write(`seed ${seed}: ${failure}\n`);
  }
  read += bytes.length;
  files++;
}
process.stdout.write(
  `${files} files, ${read} bytes, ${failures} failures; slowest ${(slowest.perByte * 1000).toFixed(2)} us a byte (seed ${slowest.seed})\n`,
);
process.exitCode = failures === 0 ? 0 : 1;
