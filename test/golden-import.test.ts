import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { ImportReading } from "@berth/core";
import { readImport, IMPORT_FORMATS } from "../packages/cli/src/transfer/read-import.js";

/** Each folder is a case, its name begins with the format; `expect.json` is what the reader makes of the other files together. */
const root = fileURLToPath(new URL("./fixtures/import/", import.meta.url));
const EXPECTED = "expect.json";
const DOMAINS = ["rack1.example"];

function readCase(name: string): ImportReading {
  const format = IMPORT_FORMATS.find((known) => name.startsWith(`${known}-`));
  if (format === undefined) throw new Error(`${name}: no format of an import`);
  const names = readdirSync(join(root, name)).filter((file) => file !== EXPECTED);
  const files = names.sort().map((file) => ({ file, text: readFileSync(join(root, name, file), "utf8") }));
  return readImport(format, files, DOMAINS);
}

describe("golden imports: what is read of other systems' files", () => {
  it.each(readdirSync(root))("%s", (name) => {
    const reading = readCase(name);
    const path = join(root, name, EXPECTED);
    if (process.env.UPDATE_GOLDEN === "1") writeFileSync(path, `${JSON.stringify(reading, null, 2)}\n`);
    expect(reading).toEqual(JSON.parse(readFileSync(path, "utf8")));
  });
});
