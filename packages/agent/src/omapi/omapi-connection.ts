import { createHmac } from "node:crypto";
import { connect, type Socket } from "node:net";
import {
  encodeOmapi,
  OMAPI_HELLO,
  omapiNumber,
  OmapiReader,
  openAuthenticator,
  omapiRefusal,
  refused,
  type OmapiMessage,
  type OmapiRequest,
  type Problem,
  type Result,
} from "@berth/core";
import { EnvironmentError, errnoOf } from "@berth/host";

export interface OmapiTarget {
  readonly port: number;
  readonly secret: Uint8Array;
  /** For everything that happens on one connection, from dialling to the last answer; 5 s unless told. */
  readonly timeoutMs?: number;
}

/** Asks and waits for the answer; one question at a time. */
export type AskOmapi = (request: OmapiRequest) => Promise<Result<OmapiMessage>>;

const HOST = "127.0.0.1";
const TIMEOUT_MS = 5_000;

/**
 * Opens a connection to the dhcpd of this host, agrees on the key, lets `use` ask, and closes it whatever happens. Throws `omapi-unreachable`
 * (nothing listens, or it went away), `omapi-timeout` (a hung dhcpd) and `omapi-garbled` or `omapi-forged` (something else answers there). That
 * dhcpd has another key is a refusal (`omapi-key-refused`).
 */
export async function withOmapi<T>(target: OmapiTarget, use: (ask: AskOmapi) => Promise<Result<T>>): Promise<Result<T>> {
  const connection = new OmapiConnection(target);
  try {
    const refusal = await connection.open();
    return refusal === null ? await use((request) => connection.ask(request)) : refused(refusal);
  } finally {
    connection.close();
  }
}

class OmapiConnection {
  readonly #socket: Socket;
  readonly #reader: OmapiReader;
  readonly #at: string;
  readonly #sign: (octets: Uint8Array) => Uint8Array;
  readonly #timer: NodeJS.Timeout;
  #authenticator = 0;
  #transaction = 0;
  #waiting: { readonly resolve: (message: OmapiMessage) => void; readonly reject: (error: EnvironmentError) => void } | null =
    null;
  #failure: EnvironmentError | null = null;

  constructor({ port, secret, timeoutMs = TIMEOUT_MS }: OmapiTarget) {
    this.#at = `${HOST}:${port}`;
    this.#sign = (octets) => createHmac("sha256", secret).update(octets).digest();
    this.#reader = new OmapiReader(this.#sign);
    this.#socket = connect(port, HOST);
    this.#socket.on("data", (chunk) => this.#take(chunk));
    this.#socket.on("error", (cause) => this.#fail("omapi-unreachable", "dhcpd's omapi-port does not answer", cause));
    this.#socket.on("close", () => this.#fail("omapi-unreachable", "dhcpd closed the connection"));
    const late = `no answer from dhcpd's omapi-port within ${timeoutMs} ms`;
    this.#timer = setTimeout(() => this.#fail("omapi-timeout", late), timeoutMs);
  }

  /** Names the key; whether both have the same secret shows with the first question. */
  async open(): Promise<Problem | null> {
    this.#socket.write(Buffer.concat(OMAPI_HELLO.map(omapiNumber)));
    const opened = await this.#exchange(openAuthenticator());
    const refusal = omapiRefusal(opened, this.#at);
    if (refusal !== null) return keyRefused(this.#at, refusal.message);
    this.#authenticator = opened.handle;
    this.#reader.require(opened.handle);
    return null;
  }

  async ask(request: OmapiRequest): Promise<Result<OmapiMessage>> {
    const isFirst = this.#transaction === 1;
    try {
      const answer = await this.#exchange(request);
      const refusal = omapiRefusal(answer, this.#at);
      return refusal === null ? { ok: true, value: answer } : refused(refusal);
    } catch (error) {
      // The key is used here for the first time: a dhcpd with another one signs by that, or hangs up.
      if (
        isFirst &&
        error instanceof EnvironmentError &&
        (error.code === "omapi-forged" || errnoOf(error.cause) === "ECONNRESET")
      )
        return refused(keyRefused(this.#at, error.message));
      throw error;
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#socket.destroy();
  }

  #exchange(request: OmapiRequest): Promise<OmapiMessage> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) {
        reject(this.#failure);
        return;
      }
      this.#waiting = { resolve, reject };
      const about = { authenticator: this.#authenticator, transaction: ++this.#transaction, answers: 0 };
      this.#socket.write(encodeOmapi({ ...about, ...request }, this.#sign));
    });
  }

  #take(chunk: Buffer): void {
    this.#reader.push(chunk);
    for (;;) {
      const next = this.#reader.next();
      if (!next.ok) {
        const [problem] = next.problems;
        this.#fail(problem?.code ?? "omapi-garbled", problem?.message ?? "", undefined, problem?.remedy);
        return;
      }
      if (next.value === null) return;
      if (next.value.answers !== this.#transaction) continue; // what nobody asked for is passed over
      const waiting = this.#waiting;
      this.#waiting = null;
      waiting?.resolve(next.value);
    }
  }

  #fail(code: string, message: string, cause?: unknown, remedy?: string): void {
    if (this.#failure !== null) return;
    const options = { ...(cause === undefined ? {} : { cause }), ...(remedy === undefined ? {} : { remedy }) };
    this.#failure = new EnvironmentError(code, this.#at, message, options);
    this.#waiting?.reject(this.#failure);
    this.#waiting = null;
    this.#socket.destroy();
  }
}

function keyRefused(at: string, message: string): Problem {
  const remedy = "it runs with another key file, or another dhcpd has the port: let the agent restart dhcpd";
  return { code: "omapi-key-refused", at, message: `dhcpd does not take our key: ${message}`, remedy };
}
