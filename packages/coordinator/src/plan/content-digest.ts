import { canonicalJson } from "@berth/core";
import { createHash } from "node:crypto";

/**
 * Names contents by the SHA-256 of their canonical JSON. That costs much more than plain JSON, so what is written as it was the last time under
 * the same key is not made canonical again.
 */
export class ContentDigests {
  private readonly last = new Map<string, { readonly plain: string; readonly digest: string }>();

  of(key: string, content: unknown): string {
    const plain = sha256(JSON.stringify(content));
    const known = this.last.get(key);
    if (known?.plain === plain) return known.digest;
    const digest = sha256(canonicalJson(content));
    this.last.set(key, { plain, digest });
    return digest;
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
