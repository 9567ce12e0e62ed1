// For full-disk.test.ts: replaces a file in the directory it is given, which is small, until it is full; prints what came of it as JSON.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { EnvironmentError, errnoOf } from "../../../packages/host/src/errors.js";
import { systemFiles } from "../../../packages/host/src/files.js";

const directory = process.argv[2] ?? "";
const path = join(directory, "desired.json");
const old = "o".repeat(20_000);
await systemFiles.replace(path, old);
const failure: unknown = await systemFiles.replace(path, "n".repeat(500_000)).then(
  () => null,
  (error: unknown) => error,
);
const text = async (): Promise<string> => new TextDecoder().decode((await systemFiles.read(path)) ?? new Uint8Array());
const kept = (await text()) === old;
const names = readdirSync(directory);
await systemFiles.replace(path, "small");
console.log(
  JSON.stringify({
    code: failure instanceof EnvironmentError ? failure.code : null,
    cause: failure instanceof Error ? errnoOf(failure.cause) : null,
    kept,
    names,
    afterwards: await text(),
  }),
);
