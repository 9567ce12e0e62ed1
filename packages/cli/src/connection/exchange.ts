import { request as httpRequest, type ClientRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { environmentFailure, type CliFailure } from "../cli-failure.js";
import type { ApiTarget } from "./api-target.js";

export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** PEM of the authority that signed the coordinator's certificate, for https. */
  readonly authority: string | null;
  /** How long the coordinator may say nothing; half a minute by default. */
  readonly silenceMs?: number;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

const SILENCE_MS = 30_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** One request and its whole answer. Fails with `coordinator-unreachable`, `coordinator-silent` or `answer-too-large`. */
export function exchange(target: ApiTarget, what: Exchange): Promise<ExchangeAnswer> {
  return new Promise((resolve, reject) => {
    const request = open(target, what);
    const silenceMs = what.silenceMs ?? SILENCE_MS;
    request.setTimeout(silenceMs, () => request.destroy(silent(target, silenceMs)));
    request.on("error", (cause) => reject(cause.name === "CliFailure" ? cause : unreachable(target, cause)));
    request.on("response", (response) => {
      collect(response, target).then(
        (text) => resolve({ status: response.statusCode ?? 0, contentType: response.headers["content-type"] ?? "", text }),
        (cause: unknown) => {
          request.destroy();
          reject(cause instanceof Error && cause.name === "CliFailure" ? cause : unreachable(target, cause));
        },
      );
    });
    request.end(what.body ?? undefined);
  });
}

/** One request whose answer is read while it comes; it ends with the signal. Fails as {@link exchange}. */
export function beginExchange(target: ApiTarget, what: Exchange, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = open(target, what, signal);
    const silenceMs = what.silenceMs ?? SILENCE_MS;
    request.setTimeout(silenceMs, () => request.destroy(silent(target, silenceMs)));
    request.on("error", (cause) => reject(cause.name === "CliFailure" ? cause : unreachable(target, cause)));
    request.on("response", resolve);
    request.end(what.body ?? undefined);
  });
}

function open(target: ApiTarget, { authority, body, headers, method, path }: Exchange, signal?: AbortSignal): ClientRequest {
  const length = body === null ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  const options: RequestOptions = {
    method,
    path,
    headers: { accept: "application/json", ...headers, ...length },
    agent: false,
    ...(signal === undefined ? {} : { signal }),
  };
  if (target.kind === "unix") return httpRequest({ ...options, socketPath: target.socketPath, host: "localhost" });
  const { hostname, port, protocol } = target.url;
  const address = { ...options, hostname: hostname.replace(/^\[|\]$/g, ""), ...(port === "" ? {} : { port: Number(port) }) };
  return protocol === "https:"
    ? httpsRequest({ ...address, ...(authority === null ? {} : { ca: authority }) })
    : httpRequest(address);
}

export async function collect(response: IncomingMessage, target: ApiTarget): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > ANSWER_BYTES_MAX)
      throw environmentFailure({
        code: "answer-too-large",
        at: target.text,
        message: `the answer is larger than ${ANSWER_BYTES_MAX} octets`,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

export function unreachable(target: ApiTarget, cause: unknown): CliFailure {
  const reason = cause instanceof Error && cause.message !== "" ? cause.message : String(cause);
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return environmentFailure(
    {
      code: "coordinator-unreachable",
      at: target.text,
      message: `no coordinator answers: ${reason}`,
      remedy: unreachableRemedy(target, code),
    },
    cause,
  );
}

function unreachableRemedy(target: ApiTarget, code: unknown): string {
  if (code === "EACCES") return "the socket belongs to the coordinator's user: run berth as that user or as root";
  if (target.kind === "unix") return "check that berth-coordinator runs and that BERTH_URL names its socket";
  if (typeof code === "string" && /CERT|SELF_SIGNED|ISSUER|ALTNAME/.test(code))
    return "set BERTH_CA_FILE to the certificate of the authority that signed the coordinator's, and use a name that stands in it";
  return "check that berth-coordinator runs, that BERTH_URL names its address, and that no firewall is between";
}

function silent(target: ApiTarget, silenceMs: number): CliFailure {
  return environmentFailure({
    code: "coordinator-silent",
    at: target.text,
    message: `the coordinator said nothing for ${silenceMs / 1000} s`,
    remedy: "look at its log; it may be waiting for its disk or its database",
  });
}
