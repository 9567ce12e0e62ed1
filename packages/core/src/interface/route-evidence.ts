import { addressBits, addressFamily, type IpAddress } from "../address/ip.js";
import { prefixFamily, prefixLength, prefixNetwork, type IpPrefix } from "../address/prefix.js";
import { containerMark, localBlock, tunnelMark } from "./address-marks.js";
import type { HostInterface, HostRoute } from "./model.js";
import type { AddressVerdict } from "./verdict.js";

/**
 * Networks that the routes say are on a link of this host: a leased /32 tells nothing of its network, the route beside it may. Not those of
 * containers, tunnels and link-local blocks, and never a single address.
 */
export function onLinkNetworks(interfaces: readonly HostInterface[], routes: readonly HostRoute[]): readonly IpPrefix[] {
  const links = new Map(interfaces.map((entry) => [entry.name, entry]));
  const networks = new Set<IpPrefix>();
  for (const { destination, gateway, interfaceName } of routes) {
    const link = interfaceName === null ? undefined : links.get(interfaceName);
    if (gateway !== null || link === undefined || containerMark(link) !== null || tunnelMark(link) !== null) continue;
    const length = prefixLength(destination);
    if (length === 0 || length === addressBits(prefixFamily(destination)) || localBlock(prefixNetwork(destination)) !== null)
      continue;
    networks.add(destination);
  }
  return [...networks];
}

/** The same verdicts; the one that the kernel takes as source towards everywhere says so. Routes explain, they do not judge. */
export function explainByRoutes(verdicts: readonly AddressVerdict[], routes: readonly HostRoute[]): readonly AddressVerdict[] {
  const sources = new Map<IpAddress, string>();
  for (const { destination, preferredSource, interfaceName } of routes) {
    if (preferredSource === null || prefixLength(destination) !== 0) continue;
    if (addressFamily(preferredSource) === prefixFamily(destination)) sources.set(preferredSource, interfaceName ?? "a route");
  }
  return verdicts.map((verdict) => {
    const by = sources.get(verdict.observed.address);
    return by === undefined
      ? verdict
      : { ...verdict, reasons: [...verdict.reasons, `source address of the default route over ${by}`] };
  });
}
