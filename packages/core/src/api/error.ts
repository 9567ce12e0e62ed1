import { z } from "zod";
import type { Problem } from "../problem.js";

/** A problem as the API prints it: without the length limits of the link, because it does not come from outside. */
export const apiProblemSchema = z
  .object({
    code: z.string(),
    at: z.string(),
    message: z.string(),
    remedy: z.string().exactOptional(),
  })
  .meta({ id: "Problem", description: "One refusal or finding: a stable code, the place, one sentence, what to do about it." });

/** Every error answer of the API: RFC 9457 with the first problem's code, place and remedy beside it, and all problems in order. */
export const apiErrorSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    at: z.string(),
    detail: z.string(),
    remedy: z.string().exactOptional(),
    problems: z.array(apiProblemSchema),
  })
  .meta({ id: "Error", description: "RFC 9457 problem details." });
export type ApiError = z.infer<typeof apiErrorSchema>;

const TITLES: Readonly<Record<number, string>> = {
  400: "The request is malformed",
  401: "No valid token",
  403: "The token's role does not allow this",
  404: "There is no such thing",
  405: "The path does not take this method",
  409: "It clashes with what is there",
  410: "It is no longer there",
  412: "It has changed",
  413: "The request is too large",
  414: "The URL is too long",
  415: "The body is not JSON",
  422: "The request is refused",
  500: "A bug in the coordinator",
  503: "The coordinator cannot do this now",
};

/** The RFC 9457 body of a refusal; `problems` must not be empty. The first problem speaks for all. */
export function apiError(status: number, problems: readonly [Problem, ...Problem[]]): ApiError {
  const [first] = problems;
  return {
    type: `urn:berth:problem:${first.code}`,
    title: TITLES[status] ?? "Error",
    status,
    code: first.code,
    at: first.at,
    detail: first.message,
    ...(first.remedy === undefined ? {} : { remedy: first.remedy }),
    problems: problems.map((problem) => ({ ...problem })),
  };
}
