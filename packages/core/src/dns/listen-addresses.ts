import type { IpAddress } from "../address/ip.js";
import type { DesiredState } from "../desired/schema.js";
import { enlistmentAddress } from "../dhcpd/enlistment.js";
import type { RackLinks } from "../dhcpd/rack-links.js";

/** Where a rack's named listens beside the loopback: its real addresses on the networks it serves, and its own on the enlistment links. */
export function listenAddresses(desired: Pick<DesiredState, "subnets">, local: RackLinks): IpAddress[] {
  const subnets = new Map(desired.subnets.map((subnet) => [subnet.id, subnet]));
  const attached = local.links.flatMap(({ subnetId, address }) => {
    const subnet = subnets.get(subnetId);
    const enlistment = subnet === undefined ? null : enlistmentAddress(subnet);
    return enlistment === null ? [address] : [address, enlistment.address];
  });
  return [...new Set(attached)];
}
