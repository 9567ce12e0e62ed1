import { createServer, type Server } from "node:http";
import { chmod, lstat, rm } from "node:fs/promises";
import { connect, type ListenOptions } from "node:net";
import type { FastifyInstance } from "fastify";
import { EnvironmentError, errnoOf } from "@berth/host";

export interface ApiEndpoint {
  /** As `BERTH_URL` takes it: `http://127.0.0.1:7480` or `unix:/run/berth/api.sock`. */
  readonly url: string;
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_MAX = 64;

/**
 * Listens on an address. Port 0 takes any free one. Throws `port-occupied`, `address-unusable`.
 * Several endpoints may serve one API; closing them leaves the API itself open.
 */
export async function listenOnAddress(api: FastifyInstance, host: string, port: number): Promise<ApiEndpoint> {
  const server = await openServer(api, { host, port }, host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`);
  const address = server.address();
  const boundPort = typeof address === "object" && address !== null ? address.port : port;
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${boundPort}`, close: () => closeServer(server) };
}

/**
 * Listens on a unix socket that only its owner may use (mode 0600). The socket file of a dead owner is replaced; one that still answers is
 * `port-occupied`, and a file that is no socket is left alone (`socket-path-occupied`).
 */
export async function listenOnSocket(api: FastifyInstance, path: string): Promise<ApiEndpoint> {
  await clearStaleSocket(path);
  const server = await openServer(api, { path }, path);
  await chmod(path, 0o600);
  return { url: `unix:${path}`, close: () => closeServer(server) };
}

async function openServer(api: FastifyInstance, options: ListenOptions, at: string): Promise<Server> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => api.routing(request, response));
  server.maxHeadersCount = HEADERS_MAX;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(options, resolve);
    });
  } catch (cause) {
    throw listenError(cause, at);
  }
  return server;
}

function listenError(cause: unknown, at: string): EnvironmentError {
  if (errnoOf(cause) === "EADDRINUSE") return occupied(at, cause);
  return new EnvironmentError("address-unusable", at, `failed to listen on ${at}`, {
    cause,
    remedy:
      "check that the address is one of this host, that the directory of a socket exists, and that this user may listen there",
  });
}

function occupied(at: string, cause?: unknown): EnvironmentError {
  return new EnvironmentError("port-occupied", at, `${at} is in use by another program`, {
    cause,
    remedy: "stop the other program ('ss -ltnxp' shows it) or configure another address for the API",
  });
}

async function clearStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch((cause: unknown) => {
    if (errnoOf(cause) === "ENOENT") return null;
    throw listenError(cause, path);
  });
  if (found === null) return;
  if (!found.isSocket())
    throw new EnvironmentError("socket-path-occupied", path, `${path} is there and is no socket`, {
      remedy: "move the file away or configure another path for the API's socket",
    });
  if (await isAnswered(path)) throw occupied(path);
  await rm(path, { force: true });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ path });
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    // ECONNREFUSED is the mark of a dead owner; whatever else is wrong, the socket is not ours to remove.
    probe.once("error", (error) => resolve(errnoOf(error) !== "ECONNREFUSED" && errnoOf(error) !== "ENOENT"));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeIdleConnections();
  });
}
