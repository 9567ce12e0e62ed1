import type { IncomingMessage, ServerResponse } from "node:http";
import {
  issueText,
  JOIN_BYTES_MAX,
  JOIN_PATH,
  joinRequestSchema,
  refused,
  type JoinAnswer,
  type Problem,
  type Result,
} from "@berth/core";
import { admitRack, type AdmissionPorts } from "./admit-rack.js";
import { Attempts } from "./attempts.js";

/** Join requests that wait for their turn; more are told to come again. */
const WAITING_MAX = 256;

const STATUS: Readonly<Record<string, number>> = {
  "token-unknown": 401,
  "token-expired": 401,
  "token-used": 409,
  "rack-name-taken": 409,
  "rack-key-differs": 409,
};

/** `POST /join` on the link's port: the one thing that works without a certificate. */
export class JoinDoor {
  readonly #ports: AdmissionPorts;
  readonly #attempts: Attempts;
  #waiting = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ports: AdmissionPorts) {
    this.#ports = ports;
    this.#attempts = new Attempts(ports.clock);
  }

  /** Answers the request, whatever it is; never rejects. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#answer(request, response);
    } catch (error) {
      this.#ports.log.error({ err: error }, "failed to answer a join request");
      refuseRequest(response, 500, { code: "join-failed", at: "join", message: "the region failed to answer; try again later" });
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url !== JOIN_PATH)
      return refuseRequest(response, 404, {
        code: "not-found",
        at: "path",
        message: "racks speak here; the API listens elsewhere",
      });
    if (request.method !== "POST") return refuseRequest(response, 405, { code: "method", at: "method", message: "POST only" });
    const source = request.socket.remoteAddress ?? "unknown";
    const wait = this.#attempts.waitMs(source);
    if (wait > 0 || this.#waiting >= WAITING_MAX) {
      response.setHeader("retry-after", Math.ceil(wait / 1000) || 1);
      return refuseRequest(response, 429, { code: "rate-limited", at: source, message: "too many attempts; wait and try again" });
    }
    const body = await readBody(request);
    const answer = body === null ? tooLarge() : await this.#admit(body);
    if (answer.ok) return reply(response, 200, answer.value);
    this.#attempts.fail(source);
    const [problem] = answer.problems;
    this.#ports.log.warn({ source, problem }, "join refused");
    refuseRequest(response, STATUS[problem?.code ?? ""] ?? 400, ...answer.problems);
  }

  /** One after the other, because names are unique. */
  async #admit(body: string): Promise<Result<JoinAnswer>> {
    const parsed = parseBody(body);
    if (parsed === null) return refused({ code: "request-invalid", at: "body", message: "not JSON" });
    const request = joinRequestSchema.safeParse(parsed.value);
    if (!request.success) return refused(...request.error.issues.slice(0, 16).map(issueProblem));
    this.#waiting += 1;
    const turn = this.#turn.then(() => admitRack(this.#ports, request.data));
    this.#turn = turn.catch(() => undefined); // the failure is the caller's; the next in line goes on
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }
}

/** The whole body, or null when it is larger than any join request. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > JOIN_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseBody(body: string): { readonly value: unknown } | null {
  try {
    return { value: JSON.parse(body) };
  } catch {
    return null; // the caller says so
  }
}

function tooLarge(): Result<never> {
  return refused({ code: "request-too-large", at: "body", message: `more than ${JOIN_BYTES_MAX} octets` });
}

function issueProblem(issue: Parameters<typeof issueText>[0]): Problem {
  return {
    code: "request-invalid",
    at: issue.path.map(String).join(".").slice(0, 256),
    message: issueText(issue).slice(0, 1024),
  };
}

function refuseRequest(response: ServerResponse, status: number, ...problems: readonly Problem[]): void {
  reply(response, status, { problems });
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent || response.destroyed) return;
  const text = JSON.stringify(body);
  // One request a connection: nothing is left to be read after a body that was too large.
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    connection: "close",
  });
  response.end(text);
}
