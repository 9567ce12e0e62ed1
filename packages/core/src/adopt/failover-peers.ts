import { failoverWishSchema, type FailoverWish } from "../desired/dhcp-settings.js";
import { keyword, type ConfNode } from "./conf-tree.js";
import type { Findings } from "./findings.js";

/** dhcpd's own port for both where a file names none (dhcpd.conf(5), failover). */
const PORT = 647;
const ELSEWHERE = "Berth has it at another value";

/** Reads `failover peer "x" { ... }`. Which rack is primary, and at which addresses the two speak, the region decides by itself. */
export function readFailoverPeer(node: ConfNode, findings: Findings): FailoverWish {
  const wish: Record<string, number> = {};
  let [own, partner] = [PORT, PORT];
  for (const child of node.body ?? []) {
    const words = child.words.map((word) => keyword(word));
    const value = Number(words.at(-1));
    const name = words.slice(0, -1).join(" ");
    if (["mclt", "split"].includes(name) && failoverWishSchema.safeParse({ [name]: value }).success) wish[name] = value;
    else if (name === "port") own = value;
    else if (name === "peer port") partner = value;
    else if (!isDecided(name, words.join(" ")))
      findings.add(child, name in FIXED ? ELSEWHERE : "Berth has nothing like it between two racks");
  }
  if (own !== partner || !failoverWishSchema.safeParse({ port: own }).success)
    findings.add(node, "Berth uses one port for both racks");
  else if (own !== PORT) wish.port = own;
  return failoverWishSchema.parse(wish);
}

/** As Berth renders them. */
const FIXED: Readonly<Record<string, string>> = {
  "max-response-delay": "max-response-delay 10",
  "max-unacked-updates": "max-unacked-updates 10",
  "load balance max seconds": "load balance max seconds 3",
};

function isDecided(name: string, text: string): boolean {
  return ["primary", "secondary"].includes(text) || ["address", "peer address"].includes(name) || FIXED[name] === text;
}
