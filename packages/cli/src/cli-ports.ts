/** Where text goes. */
export interface TextSink {
  write(text: string): void;
  /** A terminal gets colour, a file or a pipe never does. */
  readonly isTerminal: boolean;
}

/** All that the command needs of the process it runs in. */
export interface CliPorts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** Throws when the file cannot be read. */
  readonly readFile: (path: string) => Promise<string>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Aborted by Ctrl-C, which ends the command at once only where nobody asked for this. */
  readonly interrupted: () => AbortSignal;
}
