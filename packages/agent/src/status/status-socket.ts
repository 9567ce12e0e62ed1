import { createServer, request, type Server } from "node:http";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { EnvironmentError, errnoOf } from "@berth/host";

/** Where a running agent answers `berth-agent status`: only users who may read the state folder reach it. */
export function statusSocketPath(stateDir: string): string {
  return join(stateDir, "agent.sock");
}

/**
 * Listens on the agent's socket. A socket file left by an agent that was killed is replaced; a live one means that another agent runs on this
 * state folder (`agent-already-running`).
 */
export async function serveStatus(path: string, status: () => unknown): Promise<Server> {
  if ((await probe(path)) === "alive") {
    throw new EnvironmentError("agent-already-running", path, "another agent runs on this state folder", {
      remedy: "stop it first, or give this one a state folder of its own",
    });
  }
  await unlink(path).catch((cause: unknown) => {
    if (errnoOf(cause) !== "ENOENT") throw new EnvironmentError("socket-unusable", path, `failed to replace ${path}`, { cause });
  });
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(status()));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new EnvironmentError("socket-unusable", path, `failed to listen on ${path}`, { cause })),
    );
    server.listen(path, resolve);
  });
  return server;
}

/** The running agent's status, or null when none runs. */
export async function readStatus(path: string): Promise<unknown> {
  const body = await fetchSocket(path);
  return body === null ? null : JSON.parse(body);
}

async function probe(path: string): Promise<"alive" | "dead"> {
  return (await fetchSocket(path)) === null ? "dead" : "alive";
}

const STATUS_TIMEOUT_MS = 5_000;
const STATUS_MAX = 64 * 1024 * 1024;

function fetchSocket(path: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: path, path: "/status", timeout: STATUS_TIMEOUT_MS }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > STATUS_MAX) call.destroy(new Error("status too large"));
        chunks.push(chunk);
      });
      response.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    });
    call.on("timeout", () => call.destroy(new Error(`no answer within ${STATUS_TIMEOUT_MS} ms`)));
    call.on("error", (cause) => {
      const errno = errnoOf(cause);
      if (errno === "ENOENT" || errno === "ECONNREFUSED") resolve(null);
      else reject(new EnvironmentError("agent-unreachable", path, `failed to ask the agent at ${path}`, { cause }));
    });
    call.end();
  });
}
