import { fstatSync, writeFileSync } from "node:fs";

/** What a program is left with when its output cannot be written: status 0 for a reader that went away, else 3 and a line for people. */
export type EndOfOutput = (status: 0 | 3, message: string) => void;

/** As much of a stream of the process as is used. */
export interface OutputStream {
  readonly fd: number;
  write(text: string): unknown;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
}

/**
 * Writes text to standard output, all of it or with `end`. A regular file is written here: on a disk that gets full Node's own stream takes the first
 * part for the whole and the program would end with 0.
 */
export function createStandardOutput(stream: OutputStream, end: EndOfOutput): (text: string) => void {
  const failed = (error: NodeJS.ErrnoException): void => {
    // A reader that goes away (`... | head`) is no failure.
    if (error.code === "EPIPE") end(0, "");
    else
      end(
        3,
        `error: standard output: failed to write (${error.code ?? error.message}), so what is there is cut short [output-unwritable]\n`,
      );
  };
  stream.on("error", failed);
  if (!fstatSync(stream.fd).isFile()) return (text) => void stream.write(text);
  return (text) => {
    try {
      writeFileSync(stream.fd, text);
    } catch (error) {
      failed(error as NodeJS.ErrnoException);
    }
  };
}
