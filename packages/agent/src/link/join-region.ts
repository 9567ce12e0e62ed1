import { createPrivateKey, X509Certificate } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import {
  accepted,
  JOIN_BYTES_MAX,
  JOIN_PATH,
  joinAnswerSchema,
  RACK_URI,
  refused,
  type JoinAnswer,
  type JoinRequest,
  type Problem,
  type RegionAddress,
  type Result,
} from "@berth/core";
import { EnvironmentError, type Clock, parseJsonOrNull } from "@berth/host";
import type { Candidate } from "../identity/identity.js";
import { pinRegion, publicKeyHash } from "./pin-region.js";

export interface JoinOrder {
  readonly address: RegionAddress;
  readonly token: string;
  /** SHA-256 of the CA's public key in hex. */
  readonly fingerprint: string;
  readonly candidate: Candidate;
  readonly name: string | null;
  readonly hostname: string;
  readonly version: string;
}

/** A certificate's use begins a day before it was made; a clock that is off by more than this spoils lease times long before that. */
const CLOCK_OFF_MAX_MS = 3_600_000;
const ANSWER_TIMEOUT_MS = 30_000;

/**
 * Asks the pinned region to admit this host. A refusal is the region's answer; throws `region-unreachable`, `fingerprint-differs`, `clock-off`,
 * `answer-invalid`. Asking again with the same token and key is safe: it gives the same answer.
 */
export async function joinRegion(order: JoinOrder, clock: Clock): Promise<Result<JoinAnswer>> {
  const { createCertificateRequest } = await import("../identity/certificate-request.js");
  const body: JoinRequest = {
    token: order.token,
    rack: order.candidate.rack,
    name: order.name,
    hostname: order.hostname.slice(0, 253),
    version: order.version,
    request: await createCertificateRequest(order.candidate.key),
  };
  const at = `${order.address.host}:${order.address.port}`;
  const { socket } = await pinRegion(order.address, order.fingerprint, clock);
  try {
    const { status, text } = await post(socket, at, JSON.stringify(body));
    const answer = parseJsonOrNull(text);
    if (status !== 200) return refused(...problemsOf(answer, status));
    return accepted(checkAnswer(answer, order, { at, now: clock.now() }));
  } finally {
    socket.destroy();
  }
}

function post(socket: TLSSocket, at: string, body: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error): void => {
      reject(
        new EnvironmentError("region-unreachable", at, `${at} broke off before it answered`, {
          cause,
          remedy: "type the same line again: the token still works for this host",
        }),
      );
    };
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), host: at };
    const request = httpRequest({
      createConnection: () => socket,
      method: "POST",
      path: JOIN_PATH,
      headers,
      timeout: ANSWER_TIMEOUT_MS,
    });
    request.on("timeout", () => request.destroy(new Error("no answer in time")));
    request.on("error", fail);
    request.on("response", (response) => {
      readAnswer(response).then((text) => {
        resolve({ status: response.statusCode ?? 0, text });
      }, fail);
    });
    request.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > JOIN_BYTES_MAX) throw new Error(`more than ${JOIN_BYTES_MAX} octets`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Trust nothing that does not fit what was asked: the certificate is for our key, from the pinned CA, for the rack it says. */
function checkAnswer(answer: unknown, order: JoinOrder, { at, now }: { readonly at: string; readonly now: number }): JoinAnswer {
  const parsed = joinAnswerSchema.safeParse(answer);
  if (!parsed.success) throw invalid(at, parsed.error);
  const { ca, certificate, rack } = parsed.data;
  if (Math.abs(parsed.data.now - now) > CLOCK_OFF_MAX_MS)
    throw new EnvironmentError(
      "clock-off",
      at,
      `this host's clock is ${Math.round((now - parsed.data.now) / 60_000)} minutes off the region's`,
      {
        remedy: "set the clock (timedatectl, chronyc makestep) and type the same line again",
      },
    );
  try {
    const authority = new X509Certificate(ca);
    const own = new X509Certificate(certificate);
    const fits =
      publicKeyHash(authority) === order.fingerprint &&
      own.verify(authority.publicKey) &&
      own.checkPrivateKey(createPrivateKey(order.candidate.key)) &&
      own.subjectAltName === `URI:${RACK_URI}${rack}`;
    if (!fits) throw new Error("the certificate does not fit the key, the CA or the rack");
  } catch (cause) {
    throw invalid(at, cause);
  }
  return parsed.data;
}

function invalid(at: string, cause: unknown): EnvironmentError {
  return new EnvironmentError("answer-invalid", at, `${at} answered something that is no admission`, {
    cause,
    remedy: "check that agent and coordinator are of the same release",
  });
}

function problemsOf(answer: unknown, status: number): readonly Problem[] {
  const problems = answer !== null && typeof answer === "object" && "problems" in answer ? answer.problems : null;
  const list = Array.isArray(problems) ? problems.filter(isProblem).slice(0, 16) : [];
  return list.length > 0 ? list : [{ code: "join-refused", at: "join", message: `the region answered with status ${status}` }];
}

function isProblem(value: unknown): value is Problem {
  if (value === null || typeof value !== "object") return false;
  const { code, at, message } = value as Record<string, unknown>;
  return typeof code === "string" && typeof at === "string" && typeof message === "string";
}
