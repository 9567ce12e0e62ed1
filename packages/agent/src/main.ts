import { hostname } from "node:os";
import { systemClock, systemCommands, systemFiles } from "@berth/host";
import { runAgentCli } from "./create-cli.js";

// A reader that goes away (`berth-agent leases FILE | head`) is no failure; an answer that cannot be written (a full disk) is one.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 3));

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
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
  exitWith: (code) => void (process.exitCode = code),
  endingSignal,
});
