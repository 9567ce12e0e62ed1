import { readFile } from "node:fs/promises";
import { runCli } from "./run-cli.js";

// A reader that goes away (`berth lease list | head`) is no failure; an answer that cannot be written (a full disk) is one.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 3));

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdout: { write: (text) => process.stdout.write(text), isTerminal: process.stdout.isTTY },
  stderr: { write: (text) => process.stderr.write(text), isTerminal: process.stderr.isTTY },
  readFile: (path) => readFile(path, "utf8"),
  now: () => Date.now(),
  interrupted: () => {
    const interrupt = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => interrupt.abort());
    return interrupt.signal;
  },
});
