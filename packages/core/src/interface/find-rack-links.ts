import type { DesiredSubnet } from "../desired/schema.js";
import { prefixAround } from "../address/prefix.js";
import type { RackLink, RackLinks, RelayLink } from "../dhcpd/rack-links.js";
import { classify, type ClassifyOptions } from "./classify.js";
import type { HostInterface } from "./model.js";
import { realAddressOn } from "./real-address-on.js";

type Attachable = Pick<DesiredSubnet, "id" | "prefix" | "relay">;

/**
 * Where a rack's subnets are attached: the interface with the rack's real address in the subnet's prefix. A subnet without one is left out:
 * this rack cannot serve it now, unless relays forward to an address that it has.
 */
export function findRackLinks(
  subnets: readonly Attachable[],
  interfaces: readonly HostInterface[],
  knowledge: ClassifyOptions = {},
): RackLinks {
  const { verdicts } = classify(interfaces, { ...knowledge, networks: subnets.map(({ prefix }) => prefix) });
  const links = subnets.flatMap(({ id, prefix }): RackLink[] => {
    const real = realAddressOn(prefix, interfaces, verdicts);
    return real === null ? [] : [{ name: real.interfaceName, subnetId: id, address: real.address }];
  });
  const linked = new Set(links.map(({ subnetId }) => subnetId));
  const relays = subnets.filter(({ id }) => !linked.has(id)).flatMap((subnet) => relayLink(subnet, interfaces));
  return relays.length === 0 ? { links } : { links, relays };
}

function relayLink({ id, relay }: Attachable, interfaces: readonly HostInterface[]): RelayLink[] {
  if (relay === undefined) return [];
  for (const { name, addresses } of interfaces) {
    const found = addresses.find(({ address }) => address === relay.server);
    if (found !== undefined)
      return [{ name, subnetId: id, address: found.address, network: prefixAround(found.address, found.prefixLength) }];
  }
  return [];
}
