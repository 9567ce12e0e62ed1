import { hostname } from "node:os";
import { createStandardOutput, systemClock, systemCommands, systemFiles } from "@berth/host";
import { runAgentCli } from "./create-cli.js";

const stdout = createStandardOutput(process.stdout, (status, message) => {
  process.stderr.write(message);
  process.exit(status);
});

/** Only who asks for it ends in order; the other commands may be killed anywhere and are, at once. */
function endingSignal(): AbortSignal {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort(new Error(`ended by ${signal}`)));
  return ending.signal;
}

await runAgentCli(process.argv.slice(2), {
  files: systemFiles,
  commands: systemCommands,
  clock: systemClock,
  pid: process.pid,
  hostname: hostname(),
  journal: process.env.JOURNAL_STREAM !== undefined,
  stdin: () => process.stdin,
  stdout,
  stderr: (text) => void process.stderr.write(text),
  exitWith: (code) => void (process.exitCode = code),
  endingSignal,
});
