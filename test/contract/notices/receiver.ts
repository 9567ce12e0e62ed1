import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Notice } from "@berth/core";

export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: { readonly delivery: string; readonly dropped: number; readonly notices: readonly Notice[] };
}

/** A webhook receiver on loopback that answers what it is told to. */
export class Receiver {
  /** Status of the next answers; 200 when there is none left. */
  readonly answers: number[] = [];
  readonly received: Received[] = [];
  readonly #server: Server;
  #port = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        this.received.push({ headers: request.headers, text, body: JSON.parse(text) as Received["body"] });
        const status = this.answers.shift() ?? 200;
        response.writeHead(status, status === 302 ? { location: "http://127.0.0.1:9/" } : {}).end("thanks");
      });
    });
  }

  /** On the port it had before, if it had one. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return `http://127.0.0.1:${this.#port}/hook`;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Of every notice that was taken: deliveries that were refused do not count. */
  types(): string[] {
    return this.received.flatMap(({ body }) => body.notices.map(({ type }) => type));
  }
}
