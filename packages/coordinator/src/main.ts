import { systemClock, systemCommands, systemFiles } from "@berth/host";
import { runCoordinatorCli } from "./coordinator-cli.js";

/** Only who asks for it ends in order; the other commands may be killed anywhere and are, at once. */
function endingSignal(): AbortSignal {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort(new Error(`ended by ${signal}`)));
  return ending.signal;
}

await runCoordinatorCli(process.argv.slice(2), {
  files: systemFiles,
  clock: systemClock,
  commands: systemCommands,
  journal: process.env.JOURNAL_STREAM !== undefined,
  endingSignal,
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  exitWith: (code) => void (process.exitCode = code),
});
