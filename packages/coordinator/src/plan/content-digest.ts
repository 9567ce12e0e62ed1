import { canonicalJson } from "@berth/core";
import { createHash } from "node:crypto";

/** Members that may be long and whose lists are never changed: they are the same while it is the very same list. */
const LISTS = new Set(["hosts", "records"]);

/**
 * Names contents by the SHA-256 of their canonical JSON. That costs much more than plain JSON, so what is written as it was the last time under
 * the same key is not made canonical again; neither are long lists written again only to see that they are those of the last time.
 */
export class ContentDigests {
  private readonly last = new Map<string, { readonly plain: string; readonly digest: string }>();
  private readonly numbers = new WeakMap<readonly unknown[], number>();
  private lists = 0;

  of(key: string, content: unknown): string {
    const plain = sha256(JSON.stringify(content, (member, value: unknown) => this.short(member, value)));
    const known = this.last.get(key);
    if (known?.plain === plain) return known.digest;
    const digest = sha256(canonicalJson(content));
    this.last.set(key, { plain, digest });
    return digest;
  }

  /** A list gives way to its number, which no other list ever has. */
  private short(member: string, value: unknown): unknown {
    if (!LISTS.has(member) || !Array.isArray(value)) return value;
    const list: readonly unknown[] = value;
    let number = this.numbers.get(list);
    if (number === undefined) this.numbers.set(list, (number = this.lists += 1));
    return number;
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
