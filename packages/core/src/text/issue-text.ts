import type { z } from "zod";

/** How the checker begins where a schema has no words of its own. */
const OWN_WORDS = /^(?:Invalid|Too small|Too big|Unrecognized)/;

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  tuple: "a list",
  null: "null",
  undefined: "left out",
  NaN: "no number",
};

/** What is wrong with a value that a schema refused, in one plain clause: `must be at least 60`. A schema's own sentence stays. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (!OWN_WORDS.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return typeText(issue.expected, /received (\S+)$/.exec(issue.message)?.[1]);
    case "too_small":
      return boundText(issue.origin, Number(issue.minimum), "least");
    case "too_big":
      return boundText(issue.origin, Number(issue.maximum), "most");
    case "invalid_value":
      return choiceText(issue.values.map(String));
    case "invalid_union":
      return unionText(issue.message);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return `has keys that are not known: ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`;
    default:
      return "is not written as it must be";
  }
}

function typeText(expected: string, received: string | undefined): string {
  if (received === "undefined") return "is missing";
  const wanted = TYPES[expected] ?? expected;
  const is = TYPES[received ?? ""];
  return is === undefined || is === wanted ? `must be ${wanted}` : `must be ${wanted}, and is ${is}`;
}

function boundText(origin: string, bound: number, side: "least" | "most"): string {
  if (origin !== "string" && origin !== "array" && origin !== "set" && origin !== "map" && origin !== "object")
    return `must be at ${side} ${bound}`;
  if (bound === 1 && side === "least") return "must not be empty";
  return `must have at ${side} ${bound} ${origin === "string" ? "characters" : "items"}`;
}

function choiceText(choices: readonly string[]): string {
  return choices.length === 1 ? `must be ${choices[0] ?? ""}` : `must be one of ${choices.join(", ")}`;
}

/** A union that is told apart by one key names what that may be; any other has nothing to say. */
function unionText(message: string): string {
  const choices = [...message.matchAll(/'([^']*)'/g)].map(([, choice]) => choice ?? "");
  return choices.length === 0 ? "is none of what it may be" : choiceText(choices);
}
