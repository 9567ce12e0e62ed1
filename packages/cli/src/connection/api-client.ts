import { z } from "zod";
import { API_ROOT, PAGE_ITEMS_MAX, apiErrorSchema } from "@berth/core";
import { CliFailure, EXIT_ENVIRONMENT, EXIT_REFUSED, environmentFailure } from "../cli-failure.js";
import type { ApiTarget } from "./api-target.js";
import { beginExchange, collect, exchange, unreachable, type ExchangeAnswer } from "./exchange.js";
import { readEvents, type ServerEvent } from "./read-events.js";

export interface Call<T> {
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below the API's root: `/subnets/1`. Build it with {@link apiPath}. */
  readonly path: string;
  readonly body?: unknown;
  /** How long the answer may take where it is much work. */
  readonly silenceMs?: number;
  readonly answer: z.ZodType<T>;
}

export interface ApiClient {
  /** One request. A refusal of the coordinator fails with exit code 1, its own trouble with 3. */
  call<T>(call: Call<T>): Promise<T>;
  /** All pages of a list, joined. */
  list<T>(path: string, filters: Readonly<Record<string, string | undefined>>, item: z.ZodType<T>): Promise<T[]>;
  /** What happens after the event of this id, or from now on, until the coordinator ends it or the signal does. Fails as {@link ApiClient.call}. */
  events(after: string | null, signal: AbortSignal): AsyncIterable<ServerEvent>;
}

export interface ApiClientOptions {
  readonly token: string | null;
  readonly authority: string | null;
}

/** Joins path parts, each escaped: a prefix as a reference has a slash. */
export function apiPath(...parts: readonly string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join("");
}

export function createApiClient(target: ApiTarget, { authority, token }: ApiClientOptions): ApiClient {
  const authorization: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const call = async <T>({ answer, body, method = "GET", path, silenceMs }: Call<T>): Promise<T> => {
    const response = await exchange(target, {
      method,
      path: `${API_ROOT}${path}`,
      headers: authorization,
      body: body === undefined ? null : JSON.stringify(body),
      authority,
      ...(silenceMs === undefined ? {} : { silenceMs }),
    });
    return readAnswer(target, response, answer);
  };
  return {
    call,
    async list(path, filters, item) {
      const items: z.infer<typeof item>[] = [];
      const answer = z.object({ items: z.array(item), next: z.string().nullable() });
      for (let after: string | null = null; ; ) {
        const query = new URLSearchParams({ limit: String(PAGE_ITEMS_MAX) });
        for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, value);
        if (after !== null) query.set("after", after);
        const page: z.infer<typeof answer> = await call({ path: `${path}?${query.toString()}`, answer });
        items.push(...page.items);
        if (page.next === null || page.next === after) return items;
        after = page.next;
      }
    },
    events: (after, signal) => {
      const from: Record<string, string> = after === null ? {} : { "last-event-id": after };
      const headers = { ...authorization, accept: EVENT_STREAM, ...from };
      const what = { method: "GET", path: `${API_ROOT}/events`, headers, body: null, authority, silenceMs: EVENT_SILENCE_MS };
      return events(target, () => beginExchange(target, what, signal));
    },
  };
}

const EVENT_STREAM = "text/event-stream";
/** A coordinator says at least every quarter of a minute that there is nothing new. */
const EVENT_SILENCE_MS = 60_000;

async function* events(target: ApiTarget, begin: () => ReturnType<typeof beginExchange>): AsyncGenerator<ServerEvent> {
  const response = await begin();
  try {
    const { statusCode: status = 0, headers } = response;
    const contentType = headers["content-type"] ?? "";
    if (status !== 200 || !contentType.startsWith(EVENT_STREAM))
      readAnswer(target, { status, contentType, text: await collect(response, target) }, z.never());
    yield* readEvents(response.setEncoding("utf8") as AsyncIterable<string>);
  } catch (cause) {
    throw cause instanceof CliFailure ? cause : unreachable(target, cause);
  } finally {
    response.destroy();
  }
}

function readAnswer<T>(target: ApiTarget, response: ExchangeAnswer, answer: z.ZodType<T>): T {
  const body = parseJson(response.text);
  if (response.status >= 200 && response.status < 300) {
    // Checked but passed on as it came: what a newer coordinator adds is printed, not dropped. The schemas transform nothing.
    if (answer.safeParse(body).success) return body as T;
    throw notACoordinator(target, response);
  }
  const refusal = apiErrorSchema.safeParse(body);
  if (!refusal.success) throw notACoordinator(target, response);
  throw new CliFailure(response.status >= 500 ? EXIT_ENVIRONMENT : EXIT_REFUSED, refusal.data.problems);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // told by the schema, with where it came from
  }
}

function notACoordinator(target: ApiTarget, { contentType, status }: ExchangeAnswer): CliFailure {
  return environmentFailure({
    code: "answer-not-understood",
    at: target.text,
    message: `the answer (${status}, ${contentType === "" ? "no type" : contentType}) is not one of a Berth coordinator this berth understands`,
    remedy:
      "check that BERTH_URL names the coordinator's API and that both have the same version ('berth --version', 'berth status')",
  });
}
