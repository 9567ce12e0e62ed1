import type { ConfWord } from "../import/conf-statements.js";
import { keyword, type ConfNode } from "./conf-tree.js";

const PERMITS: ReadonlySet<string> = new Set(["allow", "deny", "ignore"]);

/** The words that name a setting: `option routers`, `default-lease-time`; who is answered is one setting, whether it is allowed or denied. */
export function settingName(words: readonly ConfWord[]): string {
  const first = keyword(words[0]);
  if (first === "option") return `${keyword(words[2]) === "code" ? "definition" : "option"} ${keyword(words[1])}`;
  return PERMITS.has(first) ? `permit ${keyword(words[1])}` : first;
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
    const found = settingsOf(scope).get(name);
    if (found !== undefined) return found;
  }
  return null;
}

/** A file of thousands of hosts and subnets is asked for each setting of each of them. */
const known = new WeakMap<ConfNode, ReadonlyMap<string, ConfNode>>();

function settingsOf(scope: ConfNode): ReadonlyMap<string, ConfNode> {
  const before = known.get(scope);
  if (before !== undefined) return before;
  const settings = new Map<string, ConfNode>();
  for (const node of scope.body ?? []) if (node.body === null) settings.set(settingName(node.words), node);
  known.set(scope, settings);
  return settings;
}
