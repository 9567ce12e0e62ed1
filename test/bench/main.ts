import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { measurementTable, passes, writeResults, type Benchmark } from "./measurement.js";

/** `npm run bench` runs every `NAME.bench.ts` of this folder, `npm run bench -- NAME...` those; each exports `benchmark`. */
const SUFFIX = ".bench.ts";
const folder = fileURLToPath(new URL(".", import.meta.url));
const known = readdirSync(folder)
  .filter((file) => file.endsWith(SUFFIX))
  .map((file) => file.slice(0, -SUFFIX.length));

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`no benchmark ${unknown.join(", ")}; there are ${known.join(", ")}\n`);
  process.exit(2);
}

let failed = false;
for (const name of asked.length > 0 ? asked : known) {
  process.stdout.write(`${name}\n`);
  const { benchmark } = (await import(new URL(`${name}${SUFFIX}`, import.meta.url).href)) as { readonly benchmark: Benchmark };
  const measurements = await benchmark.run();
  process.stdout.write(`${measurementTable(measurements)}\n${writeResults(name, measurements)}\n\n`);
  failed ||= !measurements.every(passes);
}
process.exitCode = failed ? 1 : 0;
