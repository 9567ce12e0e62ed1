import { parseHardwareAddress } from "../address/hardware.js";
import { parseIpAddress } from "../address/ip.js";
import { accepted, type Result } from "../problem.js";
import type { Neighbor } from "./model.js";
import { readJsonList, textMember } from "./read-json-list.js";

/** Reads `ip -json neigh` (ip-neighbour(8)); entries without a hardware address (FAILED, INCOMPLETE) were never seen and are left out. */
export function parseNeighbors(text: string, at = "ip neigh"): Result<readonly Neighbor[]> {
  const list = readJsonList(text, at);
  if (!list.ok) return list;
  const neighbors: Neighbor[] = [];
  for (const entry of list.value) {
    const interfaceName = textMember(entry, "dev");
    const address = parseIpAddress(textMember(entry, "dst") ?? "");
    const hardwareAddress = parseHardwareAddress(textMember(entry, "lladdr") ?? "");
    const states = Array.isArray(entry.state) ? entry.state.filter((state) => typeof state === "string") : [];
    if (interfaceName === null || address === null || hardwareAddress === null || states.includes("FAILED")) continue;
    neighbors.push({ interfaceName, address, hardwareAddress, states });
  }
  return accepted(neighbors);
}
