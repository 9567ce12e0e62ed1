import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import type { Argv } from "./run-program.js";

/** Whole Ethernet frames of one interface, in and out, through `programs/frame-pump.c`. */
export class FramePump {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #listeners = new Set<(frame: Buffer) => void>();
  #pending: Buffer = Buffer.alloc(0);
  #outgoing: Buffer[] = [];

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stdin.on("error", () => undefined); // it ended: its exit tells
    child.stdout.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  /** Resolves when frames are seen. */
  static async open(argv: Argv, env: Readonly<Record<string, string>> = {}): Promise<FramePump> {
    const [program, ...args] = argv;
    const child = spawn(program, args, {
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      env: { ...process.env, ...env },
    });
    const pump = new FramePump(child);
    await new Promise<void>((resolve, reject) => {
      let text = "";
      child.stderr.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
        if (text.includes("ready\n")) resolve();
      });
      child.once("error", reject);
      child.once("exit", (status, signal) => reject(new Error(`${argv.join(" ")} ended with ${status ?? signal}: ${text}`)));
    });
    return pump;
  }

  /** Calls with each frame that arrives; the returned function ends it. */
  onFrame(listener: (frame: Buffer) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Frames sent in one turn of the event loop go out in one write. */
  send(frame: Uint8Array): void {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(frame.length);
    if (this.#outgoing.push(length, Buffer.from(frame)) === 2) setImmediate(() => this.#flush());
  }

  async close(): Promise<void> {
    this.#flush();
    this.#child.stdin.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
  }

  #flush(): void {
    if (this.#outgoing.length === 0) return;
    this.#child.stdin.write(Buffer.concat(this.#outgoing));
    this.#outgoing = [];
  }

  #take(chunk: Buffer): void {
    const all = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    let at = 0;
    while (all.length - at >= 2) {
      const size = all.readUInt16BE(at);
      if (all.length - at - 2 < size) break;
      const frame = all.subarray(at + 2, at + 2 + size);
      for (const listener of this.#listeners) listener(frame);
      at += 2 + size;
    }
    this.#pending = all.subarray(at);
  }
}
