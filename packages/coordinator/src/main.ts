import { systemClock, systemCommands, systemFiles } from "@berth/host";
import { runCoordinatorCli } from "./coordinator-cli.js";

const ending = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort(new Error(`ended by ${signal}`)));

await runCoordinatorCli(process.argv.slice(2), {
  files: systemFiles,
  clock: systemClock,
  commands: systemCommands,
  journal: process.env.JOURNAL_STREAM !== undefined,
  signal: ending.signal,
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  exitWith: (code) => void (process.exitCode = code),
});
