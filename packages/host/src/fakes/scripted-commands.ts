import type { CommandOptions, CommandResult, Commands } from "../commands.js";
import { EnvironmentError } from "../errors.js";

export type CommandArgv = readonly [string, ...string[]];

/**
 * What a scripted command does: ends with this result (status 0 and no output where nothing is said), or `not-installed`, `times-out` (at once:
 * no clock runs here), `hangs` (until the caller aborts it), or whatever a function answers.
 */
export type CommandReply =
  | Partial<CommandResult>
  | "not-installed"
  | "times-out"
  | "hangs"
  | ((argv: CommandArgv, options: CommandOptions) => Partial<CommandResult>);

export interface CommandCall {
  readonly argv: CommandArgv;
  readonly input: string | undefined;
}

export interface ScriptedCommands extends Commands {
  /**
   * Commands that begin with these words answer so: the first call with the first reply, and so on; the last reply stays. The longest matching
   * beginning wins, among equals the one scripted last.
   */
  on(beginning: CommandArgv, ...replies: readonly [CommandReply, ...CommandReply[]]): void;
  /** Every call so far, oldest first. */
  readonly calls: readonly CommandCall[];
}

interface Script {
  readonly beginning: CommandArgv;
  readonly replies: CommandReply[];
}

const TIMEOUT_MS = 30_000;
const OUTPUT_MAX = 16 * 1024 * 1024;

/** Runs nothing: answers as scripted. A command without a script is a mistake of the test and throws a plain Error that names it. */
export function createScriptedCommands(): ScriptedCommands {
  const scripts: Script[] = [];
  const calls: CommandCall[] = [];
  return {
    calls,
    on(beginning, ...replies) {
      scripts.push({ beginning, replies: [...replies] });
    },
    async run(argv, options = {}) {
      calls.push({ argv: [...argv], input: options.input });
      const reply = nextReply(scripts, argv);
      await new Promise((resolve) => setImmediate(resolve)); // never in the caller's turn
      options.signal?.throwIfAborted();
      return answer(reply, argv, options);
    },
  };
}

function nextReply(scripts: readonly Script[], argv: CommandArgv): CommandReply {
  const script = scripts
    .filter(({ beginning }) => beginning.every((word, index) => argv[index] === word))
    .reduce<Script | null>((best, s) => (best === null || s.beginning.length >= best.beginning.length ? s : best), null);
  const reply = script !== null && script.replies.length > 1 ? script.replies.shift() : script?.replies[0];
  if (reply === undefined) throw new Error(`no script for the command: ${argv.join(" ")}`);
  return reply;
}

function answer(reply: CommandReply, argv: CommandArgv, options: CommandOptions): Promise<CommandResult> | CommandResult {
  const program = argv[0];
  if (reply === "hangs") return untilAborted(options.signal);
  if (reply === "not-installed") {
    throw new EnvironmentError("command-not-found", program, `${program} is not installed`, {
      cause: Object.assign(new Error(`spawn ${program} ENOENT`), { code: "ENOENT" }),
      remedy: `install the package that provides ${program}`,
    });
  }
  if (reply === "times-out") {
    const limit = options.timeoutMs ?? TIMEOUT_MS;
    throw new EnvironmentError("command-timeout", program, `${program} did not end within ${limit} ms`);
  }
  const said = typeof reply === "function" ? reply(argv, options) : reply;
  const result = { status: 0, signal: null, stdout: "", stderr: "", ...said };
  const outputMax = options.outputMax ?? OUTPUT_MAX;
  if ([result.stdout, result.stderr].some((text) => Buffer.byteLength(text) > outputMax)) {
    throw new EnvironmentError("command-output-too-large", program, `${program} printed more than ${outputMax} octets`);
  }
  return result;
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
