import type { IpAddress } from "../address/ip.js";
import { prefixContains } from "../address/prefix.js";
import { classify } from "../interface/classify.js";
import type { HostInterface } from "../interface/model.js";
import { isHostWidth, type AddressVerdict } from "../interface/verdict.js";
import type { RackView } from "../topology/rack-view.js";
import type { Subnet } from "./model.js";
import { PrefixIndex } from "./prefix-index.js";

/** A reported interface list is replaced, never changed, so its verdicts can be kept as long as it lives. */
const verdicts = new WeakMap<readonly HostInterface[], readonly AddressVerdict[]>();

/** What the rack's addresses are, from its newest report. */
export function verdictsOf(rack: Pick<RackView, "interfaces">): readonly AddressVerdict[] {
  let known = verdicts.get(rack.interfaces);
  if (known === undefined) {
    known = classify(rack.interfaces).verdicts;
    verdicts.set(rack.interfaces, known);
  }
  return known;
}

/**
 * The subnets that a rack serves: those of its site in which it has a real address with a prefix of its own (a /32 puts no network on the
 * link), and those whose relays forward to an address of its. Link state and silence do not matter, a cable that is pulled must not change what the rack is to serve. `verdicts` are the whole region's
 * where they are known; left out, what the rack alone tells.
 */
export function servedSubnets(
  subnets: readonly Subnet[],
  rack: Pick<RackView, "interfaces" | "site">,
  verdicts: readonly AddressVerdict[] = verdictsOf(rack),
): readonly Subnet[] {
  const addresses = verdicts.filter(({ class: kind, observed }) => kind === "real" && !isHostWidth(observed));
  const onLinks = attachedSubnets(subnets, rack.site, addresses);
  const relayed = relayedSubnets(subnets).filter(
    (subnet) => subnet.site === rack.site && !onLinks.includes(subnet) && relayServerOf(subnet.dhcp, verdicts) !== null,
  );
  if (relayed.length === 0) return onLinks;
  const served = new Set([...onLinks, ...relayed]);
  return subnets.filter((subnet) => served.has(subnet));
}

/** The address of the rack to which relays of the network forward, or null. An operator's word: also a /32 or a VIP that the rack holds. */
export function relayServerOf(dhcp: Subnet["dhcp"], verdicts: readonly AddressVerdict[]): IpAddress | null {
  const servers = dhcp?.relay?.servers ?? [];
  return servers.find((server) => verdicts.some(({ observed }) => observed.address === server)) ?? null;
}

/** Those few with a relay of all subnets; a list of subnets is replaced, never changed. */
function relayedSubnets(subnets: readonly Subnet[]): readonly Subnet[] {
  let relayed = relayedOf.get(subnets);
  if (relayed === undefined) {
    relayed = subnets.filter(({ dhcp }) => dhcp?.relay !== undefined);
    relayedOf.set(subnets, relayed);
  }
  return relayed;
}

const relayedOf = new WeakMap<readonly Subnet[], readonly Subnet[]>();

function attachedSubnets(subnets: readonly Subnet[], site: string, addresses: readonly AddressVerdict[]): readonly Subnet[] {
  if (subnets.length < INDEX_FROM) {
    const stands = ({ prefix }: Subnet): boolean => addresses.some(({ observed }) => prefixContains(prefix, observed.address));
    return subnets.filter((subnet) => subnet.site === site && stands(subnet));
  }
  const found = new Set<Subnet>();
  for (const { observed } of addresses) for (const subnet of subnetsAround(subnets, site, observed.address)) found.add(subnet);
  return found.size < 2 ? [...found] : subnets.filter((subnet) => found.has(subnet));
}

/** Fewer subnets are looked at one by one. */
const INDEX_FROM = 8;

/** Those of each site. A list of subnets is replaced, never changed, and asked for every rack of a region in a row. */
const indexes = new WeakMap<readonly Subnet[], ReadonlyMap<string, PrefixIndex<Subnet>>>();

function subnetsAround(subnets: readonly Subnet[], site: string, address: IpAddress): readonly Subnet[] {
  let index = indexes.get(subnets);
  if (index === undefined) {
    index = indexOf(subnets);
    indexes.set(subnets, index);
  }
  return index.get(site)?.around(address) ?? [];
}

function indexOf(subnets: readonly Subnet[]): ReadonlyMap<string, PrefixIndex<Subnet>> {
  const sites = new Map<string, PrefixIndex<Subnet>>();
  for (const subnet of subnets) {
    const own = sites.get(subnet.site) ?? new PrefixIndex<Subnet>();
    sites.set(subnet.site, own);
    own.add(subnet.prefix, subnet);
  }
  return sites;
}
