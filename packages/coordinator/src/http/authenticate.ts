import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { assert } from "@berth/core";
import { ApiRefusal } from "./api-refusal.js";
import { mayAct, type Auth, type Principal, type Role } from "./token-auth.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks; null on routes that ask for no token. */
    principal: Principal | null;
    /** For answers that go on: whether the token of the request is still good for it. */
    stillMay(): boolean;
  }
  interface FastifyContextConfig {
    /** The least role that may use the route; `none` asks for no token. Reads need `read`, changes `operate`, unless it says otherwise. */
    role?: Role | "none";
  }
}

const TOKEN_CHARACTERS_MAX = 256;

/** Asks every request for a bearer token (RFC 6750), before its body is read. */
export function authenticate(api: FastifyInstance, auth: Auth): void {
  api.decorateRequest("principal", null);
  api.decorateRequest("stillMay", function (this: FastifyRequest) {
    const needed = neededRole(this);
    const principal = identify(auth, this.headers.authorization);
    return needed === "none" || (principal !== null && mayAct(principal, needed));
  });
  api.addHook("onRequest", (request, reply, done) => {
    const needed = neededRole(request);
    if (needed === "none") return done();
    const { authorization } = request.headers;
    const principal = identify(auth, authorization);
    if (principal === null) return done(strangerRefusal(reply, authorization));
    if (!mayAct(principal, needed)) return done(new ApiRefusal(403, [roleProblem(principal, needed)]));
    request.principal = principal;
    done();
  });
}

function neededRole({ method, routeOptions }: FastifyRequest): Role | "none" {
  return routeOptions.config.role ?? (method === "GET" || method === "HEAD" ? "read" : "operate");
}

function strangerRefusal(reply: FastifyReply, authorization: string | undefined): ApiRefusal {
  reply.header("www-authenticate", 'Bearer realm="berth"');
  return new ApiRefusal(401, [
    {
      code: "token-invalid",
      at: "authorization",
      message: authorization === undefined ? "the request has no token" : "the token is not known here",
      remedy:
        "send 'Authorization: Bearer TOKEN' with the token that the coordinator wrote at its first start (for berth: BERTH_TOKEN or BERTH_TOKEN_FILE)",
    },
  ]);
}

/** Who a change is written down under. */
export function actorOf(request: FastifyRequest): string {
  assert(request.principal !== null, "a change without a principal");
  return `token ${request.principal.name}`;
}

function identify(auth: Auth, header: string | undefined): Principal | null {
  const token = /^bearer +([\x21-\x7e]+)$/i.exec(header ?? "")?.[1];
  return token === undefined || token.length > TOKEN_CHARACTERS_MAX ? null : auth.identify(token);
}

function roleProblem(principal: Principal, needed: Role) {
  return {
    code: "role-insufficient",
    at: "authorization",
    message: `the token '${principal.name}' has the role ${principal.role}, this needs ${needed}`,
    remedy: `use a token with the role ${needed}`,
  };
}
