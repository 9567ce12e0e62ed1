import { compareAddresses } from "../address/ip.js";
import { prefixNetwork } from "../address/prefix.js";
import type { DesiredSubnet } from "../desired/schema.js";

/** Whether a subnet's mode has the rack give addresses, whatever its family. */
export function servesHosts({ mode }: DesiredSubnet): boolean {
  return mode === "static" || mode === "window" || mode === "link-local";
}

/** By address, so that the order in which subnets are told leaves no trace. */
export function bySubnet(a: DesiredSubnet, b: DesiredSubnet): number {
  return compareAddresses(prefixNetwork(a.prefix), prefixNetwork(b.prefix)) || a.id - b.id;
}
