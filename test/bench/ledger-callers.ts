import { connect, type Socket } from "node:net";

/** One request to one server at a time, over a connection that is kept. */
interface Place {
  readonly url: string;
  readonly token: string;
}

export interface Calls {
  /** The callers are shared out among these servers. */
  readonly urls: readonly string[];
  readonly token: string;
  readonly callers: number;
  readonly ms: number;
  /** The body of the next request. */
  readonly next: () => string;
}

/** How many requests were answered with 201, and how many that is a second. */
export interface Answered {
  readonly count: number;
  readonly perSecond: number;
}

const ENROLL = "/api/v1/machines/enroll";
const RECEIVED_MAX = 16 * 1024;
const HEAD_END = "\r\n\r\n";

/**
 * Enrolls from so many connections that each send the next request when the last is answered, nothing pipelined. Bare sockets that read into one buffer: a full
 * HTTP client would take more of the two cores than the server it measures.
 */
export async function enroll({ callers, ms, next, token, urls }: Calls): Promise<Answered> {
  const open = Array.from({ length: callers }, (_, index) => Caller.open({ url: urls[index % urls.length] ?? "", token }));
  const all = await Promise.all(open);
  const start = performance.now();
  const counts = await Promise.all(all.map((caller) => caller.enrollUntil(start + ms, next)));
  const count = counts.reduce((sum, each) => sum + each, 0);
  const perSecond = (count * 1000) / (performance.now() - start);
  for (const caller of all) caller.close();
  return { count, perSecond };
}

export class Caller {
  readonly #socket: Socket;
  readonly #head: string;
  #received = "";
  #answered: (status: number) => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;
  /** Text of the last answer. */
  body = "";

  private constructor(socket: Socket, token: string) {
    this.#socket = socket;
    this.#head = `HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: `;
    socket.on("close", () => this.#failed(new Error("the API closed the connection")));
  }

  static open({ url, token }: Place): Promise<Caller> {
    const { hostname: host, port } = new URL(url);
    return new Promise((resolve, reject) => {
      const buffer = Buffer.allocUnsafe(RECEIVED_MAX);
      const onread = {
        buffer,
        callback: (octets: number): boolean => {
          caller.#take(buffer.toString("latin1", 0, octets));
          return true;
        },
      };
      const socket = connect({ host, port: Number(port), noDelay: true, onread });
      const caller = new Caller(socket, token);
      socket.once("error", reject);
      socket.once("connect", () => resolve(caller));
    });
  }

  post(path: string, body: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#send(path, body);
    });
  }

  /** Answers how many were enrolled. No promise a request: the caller must stay cheaper than what it calls. */
  enrollUntil(end: number, next: () => string): Promise<number> {
    return new Promise((resolve, reject) => {
      let done = 0;
      this.#failed = reject;
      this.#answered = (status) => {
        if (status !== 201) return reject(new Error(`the API answered ${status}: ${this.body}`));
        done += 1;
        if (performance.now() < end) this.#send(ENROLL, next());
        else resolve(done);
      };
      this.#send(ENROLL, next());
    });
  }

  close(): void {
    this.#failed = () => undefined;
    this.#socket.destroy();
  }

  /** Bodies are ASCII. */
  #send(path: string, body: string): void {
    this.#socket.write(`POST ${path} ${this.#head}${body.length}\r\n\r\n${body}`, "latin1");
  }

  #take(text: string): void {
    this.#received = this.#received === "" ? text : this.#received + text;
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return;
    const from = headEnd + HEAD_END.length;
    if (this.#received.length < from + contentLength(this.#received.slice(0, headEnd))) return;
    const status = Number(this.#received.slice(9, 12));
    this.body = this.#received.slice(from);
    this.#received = "";
    this.#answered(status);
  }
}

function contentLength(head: string): number {
  return Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
}
