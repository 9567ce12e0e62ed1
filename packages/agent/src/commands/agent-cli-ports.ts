import type { Clock, Commands, Files } from "@berth/host";

/** Exit status, the same for every command: 0 ok, 1 findings, 2 usage, 3 environment. */
export type ExitCode = 0 | 1 | 2 | 3;

/** What the commands of `berth-agent` need of the world. */
export interface AgentCliPorts {
  readonly files: Files;
  readonly commands: Commands;
  readonly clock: Clock;
  readonly pid: number;
  readonly hostname: string;
  /** The daemon's log goes to standard error; with `journal` each line carries its priority. */
  readonly journal: boolean;
  /** What is piped in; read at most once. */
  stdin(): AsyncIterable<Uint8Array>;
  stdout(text: string): void;
  stderr(text: string): void;
  exitWith(code: ExitCode): void;
  /** Aborted when the program is asked to end (SIGINT, SIGTERM). Who does not ask for it is killed by them. */
  endingSignal(): AbortSignal;
}
