import type { DesiredSubnet } from "../desired/schema.js";
import type { RackLink, RackLinks } from "../dhcpd/rack-links.js";
import { classify, type ClassifyOptions } from "./classify.js";
import type { HostInterface } from "./model.js";
import { realAddressOn } from "./real-address-on.js";

/**
 * Where a rack's subnets are attached: the interface with the rack's real address in the subnet's prefix. A subnet without one is left out:
 * this rack cannot serve it now.
 */
export function findRackLinks(
  subnets: readonly Pick<DesiredSubnet, "id" | "prefix">[],
  interfaces: readonly HostInterface[],
  knowledge: ClassifyOptions = {},
): RackLinks {
  const { verdicts } = classify(interfaces, { ...knowledge, networks: subnets.map(({ prefix }) => prefix) });
  const links = subnets.flatMap(({ id, prefix }): RackLink[] => {
    const real = realAddressOn(prefix, interfaces, verdicts);
    return real === null ? [] : [{ name: real.interfaceName, subnetId: id, address: real.address }];
  });
  return { links };
}
