import { readFile } from "node:fs/promises";
import { createStandardOutput } from "./output/standard-output.js";
import { runCli } from "./run-cli.js";

const write = createStandardOutput(process.stdout, (status, message) => {
  process.stderr.write(message);
  process.exit(status);
});

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdout: { write, isTerminal: process.stdout.isTTY },
  stderr: { write: (text) => process.stderr.write(text), isTerminal: process.stderr.isTTY },
  readFile: (path) => readFile(path, "utf8"),
  now: () => Date.now(),
  interrupted: () => {
    const interrupt = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupt.abort());
    return interrupt.signal;
  },
});
