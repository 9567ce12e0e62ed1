import { compareAddresses, type IpAddress } from "../address/ip.js";
import { prefixFamily, type IpPrefix } from "../address/prefix.js";
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
  const primary = policy.serving[0];
  return racksOfSite(topology, site).map(({ rack, verdicts, elsewhere }) => {
    const there = realAddressOn(prefix, rack.report.interfaces, verdicts);
    const other = elsewhere[family];
    const real = there !== null && (there.confidence >= CONFIDENT || (other?.confidence ?? 0) < CONFIDENT) ? there : other;
    const place = rack.report.rack === primary ? 0 : policy.serving.includes(rack.report.rack) ? 1 : there !== null ? 2 : 3;
    const virtual = verdicts
      .filter(({ class: kind, observed }) => kind === "vip" && familyOf(observed) === family)
      .sort(byFitness)[0];
    return {
      rack,
      rank: place,
      real,
      fallback: virtual === undefined ? null : asRealAddress(virtual),
    };
  });
}

/** A rack with its verdicts, and the address of each family by which it is reached from networks it has no part in. */
interface SiteRack {
  readonly rack: TopologyRack;
  readonly verdicts: readonly AddressVerdict[];
  readonly elsewhere: { readonly 4: RealAddress | null; readonly 6: RealAddress | null };
}

/** The same topology is asked for many networks in a row; it never changes, so neither does this. */
const bySite = new WeakMap<Topology, ReadonlyMap<string, readonly SiteRack[]>>();

function racksOfSite(topology: Topology, site: string): readonly SiteRack[] {
  const sites = bySite.get(topology) ?? racksBySite(topology);
  bySite.set(topology, sites);
  return sites.get(site) ?? [];
}

/** Of all sites at once: whoever asks for one asks for the others, and each would cost a walk through all racks. */
function racksBySite(topology: Topology): ReadonlyMap<string, readonly SiteRack[]> {
  const sites = new Map<string, SiteRack[]>();
  for (const rack of topology.racks.values()) {
    const { site } = rack.report;
    const racks = sites.get(site) ?? [];
    sites.set(site, racks);
    const verdicts = rackVerdicts(topology, rack);
    const published = publishAddresses(rack.report.interfaces, verdicts).map(({ verdict }) => verdict);
    const first = (family: 4 | 6): RealAddress | null => {
      const all = published.filter(({ observed }) => familyOf(observed) === family);
      // An address that several racks have leads to none of them for sure: a bridge that all of them made, or a mistake.
      const own = all.filter(({ observed }) => !topology.shared.has(addressKey(site, observed.address)));
      const best = (own.length > 0 ? own : all).sort(byFitness)[0];
      return best === undefined ? null : asRealAddress(best);
    };
    racks.push({ rack, verdicts, elsewhere: { 4: first(4), 6: first(6) } });
  }
  return sites;
}

function asRealAddress({ observed, interfaceName, confidence }: AddressVerdict): RealAddress {
  return { address: observed.address, interfaceName, confidence };
}

function unique(addresses: readonly IpAddress[]): readonly IpAddress[] {
  return [...new Set(addresses)].slice(0, SERVERS_MAX);
}
