import type { IpAddress } from "../address/ip.js";
import type { HostInterface } from "../interface/model.js";
import type { RackLinks } from "./rack-links.js";

/** Where a running server can be asked whether it answers: a link that it serves, and the rack's own address on it. */
export interface ProbeTarget {
  readonly link: string;
  readonly address: IpAddress;
}

/**
 * One target for each served link that can carry a question now. On a link without carrier nothing is sent at all, so its silence would say
 * nothing. Sorted by link.
 */
export function probeTargets(
  networks: readonly { readonly subnets: readonly { readonly subnetId: number }[] }[],
  local: RackLinks,
  interfaces: readonly HostInterface[],
): ProbeTarget[] {
  const served = new Set(networks.flatMap(({ subnets }) => subnets.map(({ subnetId }) => subnetId)));
  const targets = new Map<string, ProbeTarget>();
  for (const { name, subnetId, address } of local.links)
    if (served.has(subnetId) && !targets.has(name) && carries(name, interfaces)) targets.set(name, { link: name, address });
  return [...targets.values()].sort((a, b) => (a.link < b.link ? -1 : 1));
}

/** Flags that are unknown count as up. */
function carries(name: string, interfaces: readonly HostInterface[]): boolean {
  const flags = interfaces.find((item) => item.name === name)?.flags ?? [];
  return flags.length === 0 || (flags.includes("UP") && flags.includes("LOWER_UP"));
}
