import type { ConfWord } from "../import/conf-statements.js";
import type { BootClient } from "./boot-clients.js";
import type { Definitions } from "./definitions.js";

/** Whether a machine meets it. */
export type BootCondition = (client: BootClient) => boolean;

/** Octets as characters; null for an option that the machine does not send. */
type Value = (client: BootClient) => string | null;

const DEPTH_MAX = 32;

/**
 * A condition of dhcp-eval(5) over what boot clients are told apart by. Null when any word of it is not understood: half a condition means something else.
 */
export function parseBootCondition(words: readonly ConfWord[], definitions: Definitions): BootCondition | null {
  const parser = new ConditionParser(words, definitions);
  const condition = parser.either(0);
  return condition !== null && parser.isDone ? condition : null;
}

interface Token {
  readonly text: string;
  readonly quoted: boolean;
}

class ConditionParser {
  private readonly tokens: readonly Token[];
  private readonly definitions: Definitions;
  private at = 0;

  constructor(words: readonly ConfWord[], definitions: Definitions) {
    this.definitions = definitions;
    this.tokens = words.flatMap(({ quoted, text }): Token[] =>
      quoted ? [{ quoted, text }] : (text.match(/[()!~]|[^()!~]+/g) ?? []).map((piece) => ({ quoted, text: piece })),
    );
  }

  get isDone(): boolean {
    return this.at === this.tokens.length;
  }

  /** Tests joined by `and` or by `or`: which of the two binds dhcpd's parser closer is nothing to rely on, so both at once need brackets. */
  either(depth: number): BootCondition | null {
    const first = this.single(depth);
    if (first === null) return null;
    const all = [first];
    const joint = this.peek();
    while ((joint === "and" || joint === "or") && this.peek() === joint) {
      this.at++;
      const next = this.single(depth);
      if (next === null) return null;
      all.push(next);
    }
    return joint === "and" ? (client) => all.every((one) => one(client)) : (client) => all.some((one) => one(client));
  }

  private single(depth: number): BootCondition | null {
    if (depth > DEPTH_MAX) return null;
    if (this.take("not")) {
      const inner = this.single(depth + 1);
      return inner === null ? null : (client) => !inner(client);
    }
    if (this.take("(")) {
      const inner = this.either(depth + 1);
      return inner !== null && this.take(")") ? inner : null;
    }
    if (this.take("exists")) {
      const option = this.option();
      return option === null ? null : (client) => option(client) !== null;
    }
    return this.comparison(depth);
  }

  private comparison(depth: number): BootCondition | null {
    const left = this.value(depth);
    if (left === null) return null;
    const differs = this.take("!");
    if (!this.take("=") || this.peek() === "~") return null;
    const right = this.value(depth);
    if (right === null) return null;
    return (client) => (left(client) === right(client)) !== differs;
  }

  private value(depth: number): Value | null {
    if (depth > DEPTH_MAX) return null;
    if (this.take("option")) return this.option();
    if (this.take("substring")) return this.substring(depth + 1);
    const token = this.tokens[this.at];
    if (token === undefined) return null;
    this.at++;
    if (token.quoted) return () => token.text;
    // One octet without a colon may be a number: dhcpd compares those otherwise.
    if (!/^[0-9a-f]{1,2}(?::[0-9a-f]{1,2})+$/i.test(token.text)) return null;
    const octets = String.fromCharCode(...token.text.split(":").map((octet) => Number.parseInt(octet, 16)));
    return () => octets;
  }

  /** `(DATA, FROM, LENGTH)`. */
  private substring(depth: number): Value | null {
    if (!this.take("(")) return null;
    const inner = this.value(depth);
    if (inner === null || !this.take(",")) return null;
    const from = this.number();
    if (from === null || !this.take(",")) return null;
    const length = this.number();
    if (length === null || !this.take(")")) return null;
    return (client) => inner(client)?.slice(from, from + length) ?? null;
  }

  private number(): number | null {
    const text = this.tokens[this.at]?.text ?? "";
    if (!/^\d{1,5}$/.test(text)) return null;
    this.at++;
    return Number(text);
  }

  private option(): Value | null {
    const token = this.tokens[this.at];
    if (token === undefined || token.quoted) return null;
    this.at++;
    const name = token.text.toLowerCase();
    if (name === "vendor-class-identifier") return ({ vendorClass }) => vendorClass;
    if (name === "user-class") return ({ userClass }) => userClass;
    const code = this.definitions.codeOf(name);
    if (code === 93)
      return ({ architecture }) => (architecture === null ? null : String.fromCharCode(architecture >> 8, architecture & 255));
    // What is in it differs from build to build: only whether it is there can be told.
    if (code === 175) return ({ ipxeFeatures }) => (ipxeFeatures ? UNKNOWN : null);
    return null;
  }

  private peek(): string {
    const token = this.tokens[this.at];
    return token === undefined || token.quoted ? "" : token.text.toLowerCase();
  }

  private take(text: string): boolean {
    if (this.peek() !== text) return false;
    this.at++;
    return true;
  }
}

/** Equal to nothing that a file can write. */
const UNKNOWN = "\u{ffff}";
