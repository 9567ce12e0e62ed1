import type { IncomingMessage } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { WebSocketServer } from "ws";
import { assert, FRAME_BYTES_MAX, LINK_PATH, SUBPROTOCOL, type DesiredState, type Problem } from "@berth/core";
import { EnvironmentError, errnoOf, type Clock, type Log } from "@berth/host";
import type { RackRegistry } from "../racks/rack-registry.js";
import type { AuditStore, TokenStore } from "../store/store.js";
import type { Tls } from "../tls/open-tls.js";
import { JoinDoor } from "./join-door.js";
import { createPeerReader } from "./read-peer.js";
import type { WirePort } from "./session.js";
import { Sessions } from "./sessions.js";
import { createWsChannel } from "./ws-channel.js";

export interface HubOptions {
  readonly tls: Tls;
  readonly registry: RackRegistry;
  readonly tokens: TokenStore;
  readonly audit: Pick<AuditStore, "append">;
  /** The newest desired state of a rack, null when there is none yet. */
  desiredFor(rackId: string): Promise<DesiredState | null> | DesiredState | null;
  readonly wire: WirePort;
  readonly clock: Clock;
  readonly log: Log;
  readonly listen: { readonly host: string; readonly port: number };
  /** Addresses at which racks reach this region, as HOST:PORT; told to every rack. */
  regions?(): readonly string[];
  readonly version?: string;
}

/** The coordinator's end of all links, on one TLS port. */
export interface Hub {
  /** Listens, then lives until aborted; tells every rack goodbye. Throws `port-occupied`, `address-unusable`. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when it listens, with the real port. */
  ready(): Promise<{ readonly host: string; readonly port: number }>;
  /** Where it listens; null before it does. */
  address(): { readonly host: string; readonly port: number } | null;
  /** The rack's desired state changed: send the newest to it, if it is connected. */
  push(rackId: string): void;
  /** The same for the addresses that it shall probe. */
  probe(rackId: string): void;
  /** Racks with an open session. */
  connected(): readonly string[];
  /** What is wrong with links and what travels on them: two hosts with one identity, a desired state that is too large. */
  problems(): readonly Problem[];
}

const TICK_MS = 1_000;
/** How often a running coordinator looks whether its own certificate is to be made anew. */
const CERTIFICATE_CHECK_MS = 6 * 3_600_000;
/** Ten thousand racks may dial at once; the kernel keeps them until we come round (bounded by net.core.somaxconn). */
const BACKLOG = 4_096;
const HANDSHAKE_TIMEOUT_MS = 30_000;
const GOODBYE_MS = 1_000;

export function createHub(options: HubOptions): Hub {
  return new TlsHub(options);
}

class TlsHub implements Hub {
  readonly #options: HubOptions;
  readonly #sessions: Sessions;
  readonly #door: JoinDoor;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: FRAME_BYTES_MAX,
    clientTracking: false,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  });
  #address: { readonly host: string; readonly port: number } | null = null;
  #waiting: (() => void)[] = [];
  readonly #readPeer = createPeerReader();
  /** Raw connections, those of open links too: the HTTP server forgets a socket once it is a WebSocket. */
  readonly #connections = new Set<Socket>();

  constructor(options: HubOptions) {
    this.#options = options;
    const { tls, registry, tokens, audit, clock, log } = options;
    const regions = (): readonly string[] => options.regions?.() ?? [];
    this.#door = new JoinDoor({ tls, registry, tokens, audit, clock, log, regions });
    this.#sessions = new Sessions({
      admission: { tls, registry, tokens, audit, clock, log, regions },
      version: options.version ?? "0",
      desiredFor: (rackId) => options.desiredFor(rackId),
      wire: options.wire,
    });
  }

  address(): { readonly host: string; readonly port: number } | null {
    return this.#address;
  }

  async ready(): Promise<{ readonly host: string; readonly port: number }> {
    while (this.#address === null) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#address;
  }

  push(rackId: string): void {
    this.#sessions.push(rackId);
  }

  probe(rackId: string): void {
    this.#sessions.probe(rackId);
  }

  connected(): readonly string[] {
    return this.#sessions.racks();
  }

  problems(): readonly Problem[] {
    return this.#sessions.problems();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const server = await this.#createServer();
    await this.#listen(server);
    log.info({ ...this.#address, fingerprint: this.#options.tls.fingerprint }, "racks may dial");
    let checkedAt = clock.monotonic();
    try {
      while (!signal.aborted) {
        await clock.sleep(TICK_MS, signal);
        this.#sessions.tick();
        if (clock.monotonic() - checkedAt < CERTIFICATE_CHECK_MS) continue;
        checkedAt = clock.monotonic();
        server.setSecureContext({ ...(await this.#options.tls.serverCredentials()), ca: this.#options.tls.authorityPem });
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#sessions.stop();
      await closeServer(server, this.#connections);
      this.#address = null;
    }
  }

  async #createServer(): Promise<Server> {
    const { tls } = this.#options;
    const server = createServer({
      ...(await tls.serverCredentials()),
      ca: tls.authorityPem,
      // A rack that joins has no certificate yet, so TLS asks for one and the upgrade insists on it.
      requestCert: true,
      rejectUnauthorized: false,
      minVersion: "TLSv1.3",
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAlive: true,
      noDelay: true,
    });
    server.on("connection", (socket: Socket) => {
      this.#connections.add(socket);
      socket.once("close", () => this.#connections.delete(socket));
    });
    server.on("request", (request, response) => {
      this.#door.answer(request, response).catch(this.#logBug("join"));
    });
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#upgrade(request, socket, head);
    });
    server.on("tlsClientError", (error) => {
      this.#options.log.debug({ err: error }, "TLS handshake failed");
    });
    return server;
  }

  async #listen(server: Server): Promise<void> {
    const { host, port } = this.#options.listen;
    await new Promise<void>((resolve, reject) => {
      server.once("error", (cause) => {
        reject(listenError(cause, `${host}:${port}`));
      });
      server.listen({ host, port, backlog: BACKLOG }, resolve);
    });
    const address = server.address() as AddressInfo;
    this.#address = { host: address.address, port: address.port };
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { registry, clock, log } = this.#options;
    socket.on("error", (error) => {
      log.debug({ err: error }, "connection broke");
    });
    if (request.url !== LINK_PATH) {
      rejectUpgrade(socket, { code: "not-found", at: "path", message: `the link is at ${LINK_PATH}` });
      return;
    }
    const peer = this.#readPeer(socket as TLSSocket, registry, clock.now());
    if (!peer.ok) {
      const [problem] = peer.problems;
      assert(problem !== undefined, "a refusal carries its reasons");
      log.warn({ source: request.socket.remoteAddress, problem }, "link refused");
      rejectUpgrade(socket, problem);
      return;
    }
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      this.#sessions.accept(createWsChannel(webSocket), peer.value);
    });
  }

  #logBug(where: string): (error: unknown) => void {
    return (error) => {
      this.#options.log.error({ err: error, where }, "bug");
    };
  }
}

/** Stops listening and gives every connection a second to say goodbye; an agent that does not answer is not waited for. */
async function closeServer(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  const timer = setTimeout(() => {
    for (const socket of connections) socket.destroy();
  }, GOODBYE_MS);
  server.closeIdleConnections();
  await closed;
  clearTimeout(timer);
}

function listenError(cause: Error, at: string): EnvironmentError {
  return errnoOf(cause) === "EADDRINUSE"
    ? new EnvironmentError("port-occupied", at, `another program listens on ${at}`, {
        cause,
        remedy: "choose another port for the link, or stop that program (ss -ltnp shows it)",
      })
    : new EnvironmentError("address-unusable", at, `failed to listen on ${at}`, {
        cause,
        remedy: "listen on an address of this host",
      });
}

/** The reason travels in the body, for the agent's log. */
function rejectUpgrade(socket: Duplex, problem: Problem): void {
  const body = JSON.stringify({ problems: [problem] });
  const head = [
    "HTTP/1.1 403 Forbidden",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
