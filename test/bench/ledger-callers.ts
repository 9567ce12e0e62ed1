import { connect, type Socket } from "node:net";

export interface Calls {
  readonly url: string;
  readonly token: string;
  readonly callers: number;
  readonly ms: number;
  /** The body of the next request. */
  readonly next: () => string;
}

const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * Requests a second that were answered with 201, from so many connections that each send the next request when the last is answered. Bare sockets:
 * a full HTTP client would take more of the two cores than the server it measures.
 */
export async function enrollsPerSecond({ callers, ms, next, token, url }: Calls): Promise<number> {
  const { hostname, port } = new URL(url);
  const end = performance.now() + ms;
  const start = performance.now();
  const counts = await Promise.all(
    Array.from({ length: callers }, async () => {
      const caller = await Caller.open(hostname, Number(port), token);
      let done = 0;
      for (; performance.now() < end; done++) {
        const status = await caller.post("/api/v1/machines/enroll", next());
        if (status !== 201) throw new Error(`the API answered ${status}`);
      }
      caller.close();
      return done;
    }),
  );
  return (counts.reduce((sum, count) => sum + count, 0) * 1000) / (performance.now() - start);
}

export class Caller {
  readonly #socket: Socket;
  readonly #head: string;
  #received: Buffer = Buffer.alloc(0);
  #answered: (status: number) => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;
  /** Text of the last answer. */
  body = "";

  private constructor(socket: Socket, token: string) {
    this.#socket = socket;
    this.#head = `HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: `;
    socket.on("data", (chunk) => this.#take(chunk));
    socket.on("close", () => this.#failed(new Error("the API closed the connection")));
  }

  static open(host: string, port: number, token: string): Promise<Caller> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true });
      socket.once("error", reject);
      socket.once("connect", () => resolve(new Caller(socket, token)));
    });
  }

  post(path: string, body: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(`POST ${path} ${this.#head}${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  }

  close(): void {
    this.#failed = () => undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const head = this.#received.toString("latin1", 0, headEnd);
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    const end = headEnd + HEAD_END.length + length;
    if (this.#received.length < end) return;
    this.body = this.#received.toString("utf8", headEnd + HEAD_END.length, end);
    this.#received = this.#received.subarray(end);
    this.#answered(Number(head.slice(9, 12)));
  }
}
