import type { ConfWord } from "../import/conf-statements.js";
import { keyword, type ConfNode } from "./conf-tree.js";

/** The words that name a setting: `option routers`, `default-lease-time`. */
export function settingName(words: readonly ConfWord[]): string {
  const first = keyword(words[0]);
  return first === "option" ? `option ${keyword(words[1])}` : first;
}

/** What a setting is set to: its words without its name and without commas. */
export function settingValues({ words }: ConfNode): string[] {
  return words
    .slice(keyword(words[0]) === "option" ? 2 : 1)
    .flatMap(({ quoted, text }) => (text === "," && !quoted ? [] : [text]));
}

/** The statement that decides a setting for this block: the last one in the innermost block around it that has any (dhcpd.conf(5), scopes). */
export function findSetting(block: ConfNode, name: string): ConfNode | null {
  for (let scope: ConfNode | null = block; scope !== null; scope = scope.outer) {
    const found = scope.body?.findLast(({ body, words }) => body === null && settingName(words) === name);
    if (found !== undefined) return found;
  }
  return null;
}
