import { addressBits, compareAddresses, type IpAddress } from "../address/ip.js";
import { prefixAround, prefixFamily, prefixLength, type IpPrefix } from "../address/prefix.js";
import { publishAddresses } from "../interface/publish-addresses.js";
import { byFitness, realAddressOn, type RealAddress } from "../interface/real-address-on.js";
import { CONFIDENT, familyOf, type AddressVerdict } from "../interface/verdict.js";
import type { Problem } from "../problem.js";
import { rackVerdicts } from "./fleet-verdict.js";
import { addressKey, type Topology, type TopologyRack } from "./topology.js";

/** What was decided about one network's servers. */
export interface ServerPolicy {
  /** Racks whose dhcpd serves the network, the primary first. */
  readonly serving: readonly string[];
  /** Exactly these instead, in this order: the one place where a VIP may be handed out. */
  readonly dns: readonly IpAddress[] | null;
  readonly ntp: readonly IpAddress[] | null;
  /** Used when no serving rack's NTP server answers. */
  readonly upstreamNtp: readonly IpAddress[];
  /** The rack's own address of the enlistment pool: on that link it is both servers. */
  readonly enlistment?: IpAddress | null;
}

/** Best first. */
export interface ServerLists {
  readonly dns: readonly IpAddress[];
  readonly ntp: readonly IpAddress[];
  readonly problems: readonly Problem[];
}

/** What one DHCP option can carry: 255 octets, four an address (RFC 2132 §3.8); IPv6 lists are cut to as many. */
export const SERVERS_MAX = 63;

/** One rack's offer to be a server of a network, with its place in the order. */
interface Offer {
  readonly rack: TopologyRack;
  readonly rank: number;
  readonly real: RealAddress | null;
  /** Held there, but virtual: the last resort. */
  readonly fallback: RealAddress | null;
}

/**
 * The DNS and NTP servers that machines of a network are given, the same for every consumer (DHCP options, NS records, machine configuration, API).
 *
 * DNS: every rack of the site whose named answers (or has not been asked yet), by its real address on that network or, without one, by another
 * real address; the primary first, then racks that serve, then others on the network, then the rest, each in numeric order. NTP: the serving racks
 * whose NTP server answered, else the upstreams. A pinned list stands as it is. A verdict never empties a list: with nothing surely real
 * the best candidate is taken, with a warning.
 */
export function serversFor(
  network: { readonly prefix: IpPrefix; readonly site: string },
  topology: Topology,
  policy: ServerPolicy,
): ServerLists {
  const own = policy.enlistment ?? null;
  if (own !== null) return { dns: [own], ntp: [own], problems: [] };
  const problems: Problem[] = [];
  const offers = siteOffers(network, topology, policy);
  const dns = policy.dns ?? dnsServers(network.prefix, offers, problems);
  const ntp = policy.ntp ?? ntpServers(network.prefix, offers, { policy, problems });
  return { dns: unique(dns), ntp: unique(ntp), problems };
}

function dnsServers(prefix: IpPrefix, offers: readonly Offer[], problems: Problem[]): readonly IpAddress[] {
  const answering = offers.filter(({ rack }) => rack.servers.dns !== false);
  if (answering.length === 0 && offers.length > 0) {
    problems.push({
      code: "dns-not-answering",
      at: prefix,
      message: `no rack's named answers its agent: all ${offers.length} are listed as DNS servers of ${prefix} all the same`,
      remedy: "see 'berth rack list' and the daemons' problems",
    });
  }
  return chosen(prefix, answering.length > 0 ? answering : offers, { role: "DNS", problems });
}

function ntpServers(
  prefix: IpPrefix,
  offers: readonly Offer[],
  { policy, problems }: { readonly policy: ServerPolicy; readonly problems: Problem[] },
): readonly IpAddress[] {
  const answering = offers.filter(({ rack }) => policy.serving.includes(rack.report.rack) && rack.servers.ntp === true);
  if (answering.length > 0) return chosen(prefix, answering, { role: "NTP", problems });
  problems.push({
    code: "ntp-not-answering",
    at: prefix,
    message: `no rack that serves ${prefix} has an NTP server that answers: ${policy.upstreamNtp.length > 0 ? "machines are given the upstream servers" : "machines are given none"}`,
    remedy:
      policy.upstreamNtp.length > 0
        ? "start chrony on the serving racks"
        : "start chrony on the serving racks or configure upstream NTP servers",
  });
  return policy.upstreamNtp;
}

function chosen(
  prefix: IpPrefix,
  offers: readonly Offer[],
  { role, problems }: { readonly role: string; readonly problems: Problem[] },
): readonly IpAddress[] {
  const sure = offers.flatMap(({ real, rank }) => (real !== null && real.confidence >= CONFIDENT ? [{ real, rank }] : []));
  if (sure.length > 0) return inOrder(sure);
  const best = offers.reduce<RealAddress | null>((found, offer) => better(found, offer.real ?? offer.fallback), null);
  if (best === null) return [];
  problems.push({
    code: "server-uncertain",
    at: prefix,
    message: `${best.address} is given as ${role} server of ${prefix} though it is not surely a rack's own address`,
    remedy: "name the rack's own address in addresses.real",
  });
  return [best.address];
}

function inOrder(offers: readonly { readonly real: RealAddress; readonly rank: number }[]): readonly IpAddress[] {
  return [...offers]
    .sort((a, b) => a.rank - b.rank || compareAddresses(a.real.address, b.real.address))
    .map(({ real }) => real.address);
}

/** Of equally sure ones the lowest number. */
function better(a: RealAddress | null, b: RealAddress | null): RealAddress | null {
  if (a === null || b === null) return a ?? b;
  if (a.confidence !== b.confidence) return a.confidence > b.confidence ? a : b;
  return compareAddresses(a.address, b.address) <= 0 ? a : b;
}

function siteOffers(
  { prefix, site }: { readonly prefix: IpPrefix; readonly site: string },
  topology: Topology,
  policy: ServerPolicy,
): readonly Offer[] {
  const family = prefixFamily(prefix);
  const [primary] = policy.serving;
  const own = sitesOf(topology).get(site);
  if (own === undefined) return [];
  const near = new Set(own.near(prefix));
  return own.racks[family].map(({ rack, verdicts, elsewhere }) => {
    const { real: other, fallback } = elsewhere[family];
    const { rack: id, interfaces } = rack.report;
    const there = near.has(rack) ? realAddressOn(prefix, interfaces, verdicts) : null;
    const real = there !== null && (there.confidence >= CONFIDENT || (other?.confidence ?? 0) < CONFIDENT) ? there : other;
    const rank = id === primary ? 0 : policy.serving.includes(id) ? 1 : there !== null ? 2 : 3;
    return { rack, rank, real, fallback };
  });
}

type Elsewhere = Pick<Offer, "real" | "fallback">;

/** A rack with its verdicts, and what it offers in each family to networks it has no part in. */
interface SiteRack {
  readonly rack: TopologyRack;
  readonly verdicts: readonly AddressVerdict[];
  readonly elsewhere: { readonly 4: Elsewhere; readonly 6: Elsewhere };
}

interface Site {
  /** By family, in the numeric order of what they offer elsewhere: a list in order is quickly put in order again. */
  readonly racks: { readonly 4: readonly SiteRack[]; readonly 6: readonly SiteRack[] };
  /** Those with an address in the prefix, perhaps some more than once. */
  near(prefix: IpPrefix): readonly TopologyRack[];
}

/** The same topology is asked for many networks in a row; it never changes, so neither does this. */
const sitesOfTopology = new WeakMap<Topology, ReadonlyMap<string, Site>>();

/** All sites at once: whoever asks for one asks for the others, and each would cost a walk through all racks. */
function sitesOf(topology: Topology): ReadonlyMap<string, Site> {
  let sites = sitesOfTopology.get(topology);
  if (sites === undefined) {
    const racks = new Map<string, SiteRack[]>();
    for (const rack of topology.racks.values()) {
      const { site } = rack.report;
      const others = racks.get(site) ?? [];
      racks.set(site, others);
      others.push(siteRack(topology, rack));
    }
    sites = new Map([...racks].map(([site, own]) => [site, siteOf(own)]));
    sitesOfTopology.set(topology, sites);
  }
  return sites;
}

function siteRack(topology: Topology, rack: TopologyRack): SiteRack {
  const verdicts = rackVerdicts(topology, rack);
  const published = publishAddresses(rack.report.interfaces, verdicts).map(({ verdict }) => verdict);
  const elsewhere = (family: 4 | 6): Elsewhere => {
    const isOf = ({ observed }: AddressVerdict): boolean => familyOf(observed) === family;
    const all = published.filter(isOf);
    // An address that several racks have leads to none of them for sure: a bridge that all of them made, or a mistake.
    const own = all.filter(({ observed }) => !topology.shared.has(addressKey(rack.report.site, observed.address)));
    const virtual = verdicts.filter((verdict) => verdict.class === "vip" && isOf(verdict));
    return { real: fittest(own.length > 0 ? own : all), fallback: fittest(virtual) };
  };
  return { rack, verdicts, elsewhere: { 4: elsewhere(4), 6: elsewhere(6) } };
}

function siteOf(racks: readonly SiteRack[]): Site {
  const inOrderOf = (family: 4 | 6): readonly SiteRack[] => {
    const offered = racks.map((rack) => ({ rack, address: rack.elsewhere[family].real?.address ?? null }));
    const order = (a: IpAddress | null, b: IpAddress | null): number =>
      a === null || b === null ? Number(a === null) - Number(b === null) : compareAddresses(a, b);
    return offered.sort((a, b) => order(a.address, b.address)).map(({ rack }) => rack);
  };
  const byLength = new Map<number, Map<IpPrefix, TopologyRack[]>>();
  const near = (prefix: IpPrefix): readonly TopologyRack[] => {
    const length = prefixLength(prefix);
    const networks = byLength.get(length) ?? racksByNetwork(racks, length);
    byLength.set(length, networks);
    return networks.get(prefix) ?? [];
  };
  return { racks: { 4: inOrderOf(4), 6: inOrderOf(6) }, near };
}

/** By the prefix of that length around each of their addresses. */
function racksByNetwork(racks: readonly SiteRack[], length: number): Map<IpPrefix, TopologyRack[]> {
  const networks = new Map<IpPrefix, TopologyRack[]>();
  for (const { rack, verdicts } of racks)
    for (const { observed } of verdicts) {
      if (length > addressBits(familyOf(observed))) continue;
      const prefix = prefixAround(observed.address, length);
      const there = networks.get(prefix);
      if (there === undefined) networks.set(prefix, [rack]);
      else there.push(rack);
    }
  return networks;
}

function fittest(verdicts: readonly AddressVerdict[]): RealAddress | null {
  const best = verdicts.toSorted(byFitness)[0];
  return best === undefined ? null : asRealAddress(best);
}

function asRealAddress({ observed, interfaceName, confidence }: AddressVerdict): RealAddress {
  return { address: observed.address, interfaceName, confidence };
}

function unique(addresses: readonly IpAddress[]): readonly IpAddress[] {
  return [...new Set(addresses)].slice(0, SERVERS_MAX);
}
