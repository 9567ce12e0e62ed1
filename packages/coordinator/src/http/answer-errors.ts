import type { FastifyError, FastifyInstance, FastifyReply } from "fastify";
import { EnvironmentError, describeError, type Log } from "@berth/host";
import { apiError, assert, type Problem, type Result } from "@berth/core";
import { ApiRefusal } from "./api-refusal.js";
import { KnownPaths } from "./known-paths.js";
import { problemStatus } from "./problem-status.js";

const URL_CHARACTERS_MAX = 200;
/** The store's word for: another coordinator or request was first. */
const CONFLICT = "store-conflict";

/** The value of an accepted result; a refusal becomes the error answer of the request. */
export function acceptedValue<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  const [first, ...rest] = result.problems;
  assert(first !== undefined, "a refusal without a problem");
  throw new ApiRefusal(problemStatus(first), [first, ...rest]);
}

/** Makes every error answer RFC 9457 JSON; only bugs and failures of the world are logged. */
export function answerErrors(api: FastifyInstance, log: Log): void {
  api.setErrorHandler<FastifyError>((error, request, reply) => {
    const { status, problems } = classify(error, request.routeOptions.bodyLimit ?? api.initialConfig.bodyLimit ?? 0);
    if (status >= 500)
      log.error({ method: request.method, route: request.routeOptions.url, error: describeError(error) }, "request failed");
    return sendError(reply, status, problems);
  });
  const paths = new KnownPaths(api);
  api.setNotFoundHandler((request, reply) => {
    const at = `${request.method} ${request.url.slice(0, URL_CHARACTERS_MAX)}`;
    const remedy = "see /api/v1/openapi.json for what there is";
    const methods = paths.methodsOf(request.url);
    if (methods.length === 0)
      return sendError(reply, 404, [{ code: "route-unknown", at, message: "there is no such route", remedy }]);
    const message = `the path takes ${methods.join(", ")}`;
    return sendError(reply.header("allow", methods.join(", ")), 405, [{ code: "method-not-allowed", at, message, remedy }]); // RFC 9110 §15.5.6
  });
}

/** Sends it as it is: the body is made here, so no response schema applies. */
export function sendError(reply: FastifyReply, status: number, problems: readonly [Problem, ...Problem[]]): FastifyReply {
  return reply
    .code(status)
    .type("application/problem+json")
    .serializer((body: unknown) => JSON.stringify(body))
    .send(apiError(status, problems));
}

/** A URL that the router itself cannot take: broken escapes, or a name that is longer than any we have. */
export function refuseUrl(url: string, reply: FastifyReply, { statusCode = 400 }: FastifyError): void {
  sendError(reply, statusCode, [
    {
      code: "url-malformed",
      at: url.slice(0, URL_CHARACTERS_MAX),
      message: statusCode === 414 ? "a name in the path is longer than any there is" : "the path is not a valid URL path",
      remedy: "escape what is not plain, as 192.168.50.0%2F24",
    },
  ]);
}

interface ErrorAnswer {
  readonly status: number;
  readonly problems: readonly [Problem, ...Problem[]];
}

function classify(error: FastifyError | Error, bodyLimit: number): ErrorAnswer {
  if (error instanceof ApiRefusal) return { status: error.statusCode, problems: error.problems };
  if (error instanceof EnvironmentError) {
    const { at, code, message, remedy } = error;
    return one(code === CONFLICT ? 409 : 503, { code, at, message, ...(remedy === undefined ? {} : { remedy }) });
  }
  const status = "statusCode" in error ? (error.statusCode ?? 500) : 500;
  if (status >= 400 && status < 500) return one(status, { at: "body", ...bodyProblem(status, error, bodyLimit) });
  const message = "the coordinator failed on a bug of its own; its log says more";
  return one(500, { code: "internal", at: "coordinator", message });
}

/** Why Fastify did not take the body. */
function bodyProblem(status: number, error: Error, bodyLimit: number): Omit<Problem, "at"> {
  if (status === 413) {
    const message = `the body is larger than ${bodyLimit} octets`;
    return { code: "body-too-large", message, remedy: "send less at once" };
  }
  if (status === 415) {
    const remedy = "send it with 'Content-Type: application/json'";
    return { code: "body-not-json", message: "the body is not declared as JSON", remedy };
  }
  return { code: "body-malformed", message: error.message, remedy: "send one JSON object" };
}

function one(status: number, problem: Problem): ErrorAnswer {
  return { status, problems: [problem] };
}
