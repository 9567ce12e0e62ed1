import { parseIpAddress } from "../address/ip.js";
import { prefixContains, type IpPrefix } from "../address/prefix.js";
import { keyword, type ConfNode } from "./conf-tree.js";
import { isPool, isRange, subnetPrefix } from "./find-subnet.js";
import type { Findings } from "./findings.js";
import { settingValues } from "./settings.js";

/**
 * A pool that stands in a shared network, beside its subnets, gives addresses of any of them (dhcpd.conf(5), "Address pools"): each subnet is read as if the
 * part with its own ranges stood in it.
 */
export function placeSharedPools(block: ConfNode, findings: Findings): void {
  const nodes = block.body ?? [];
  const subnets = nodes.flatMap((node) => {
    const prefix = SUBNETS.has(keyword(node.words[0])) ? subnetPrefix(node) : null;
    return prefix === null ? [] : [{ node, prefix, body: node.body ?? [] }];
  });
  for (const pool of nodes.filter(isPool)) {
    const rest = new Set((pool.body ?? []).filter(isRange));
    for (const { node, prefix, body } of subnets) {
      const own = [...rest].filter((range) => beginsIn(range, prefix));
      if (own.length === 0) continue;
      for (const range of own) rest.delete(range);
      const part: ConfNode = { ...pool, outer: node, body: [] };
      part.body?.push(...(pool.body ?? []).filter((child) => !isRange(child) || own.includes(child)));
      body.push(part);
    }
    for (const range of rest) findings.add(range, "a range outside of every subnet");
  }
}

const SUBNETS: ReadonlySet<string> = new Set(["subnet", "subnet6"]);

/** One that ends elsewhere is told where it is read. */
function beginsIn(range: ConfNode, prefix: IpPrefix): boolean {
  const words = settingValues(range).filter((word) => word.toLowerCase() !== "dynamic-bootp");
  const first = parseIpAddress(words[0]?.split("/")[0] ?? "");
  return first !== null && prefixContains(prefix, first);
}
