import type { HardwareAddress } from "../address/hardware.js";
import { addressFamily, compareAddresses, type IpAddress } from "../address/ip.js";
import type { DhcpReply } from "../dhcp-packet/model.js";
import type { Dhcp6Advertisement } from "../dhcp-packet/solicit.js";
import type { Problem } from "../problem.js";

/** An offer that answered our question on one link. */
export interface HeardOffer {
  readonly interfaceName: string;
  /** Where the datagram came from: unlike the server identifier, what the sender's host really has. */
  readonly source: IpAddress;
  readonly reply: Pick<DhcpReply, "type" | "serverIdentifier" | "address" | "routers" | "dnsServers" | "leaseSeconds">;
}

/**
 * An advertisement of DHCPv6 as an offer, whose sender stands for the server: it has an identifier that is no address. Null where it gives no address: that is
 * nobody's second server, and our own racks answer each other so.
 */
export function advertisedOffer(
  advertisement: Dhcp6Advertisement,
  { interfaceName, source }: Pick<HeardOffer, "interfaceName" | "source">,
): HeardOffer | null {
  const { address, dnsServers, leaseSeconds } = advertisement;
  if (address === null) return null;
  return {
    interfaceName,
    source,
    reply: { type: "offer", serverIdentifier: null, address, routers: [], dnsServers, leaseSeconds },
  };
}

/** A DHCP server on a served link that is none of ours, and what it gives to machines. */
export interface ForeignServer {
  readonly interfaceName: string;
  readonly server: IpAddress;
  readonly source: IpAddress;
  /** Null while nobody answered for its address. */
  readonly hardwareAddress: HardwareAddress | null;
  readonly offered: IpAddress | null;
  readonly routers: readonly IpAddress[];
  readonly dnsServers: readonly IpAddress[];
  readonly leaseSeconds: number | null;
  /** First heard, milliseconds since 1970. */
  readonly since: number;
  /** Rounds in a row in which it did not answer. */
  readonly missed: number;
}

/** What a round of questions brought. */
export interface OfferRound {
  /** Interfaces on which the question was asked; servers on others have to wait for their round. */
  readonly asked: ReadonlySet<string>;
  /** Interfaces that serve now: what was heard on any other is forgotten. */
  readonly served: ReadonlySet<string>;
  readonly offers: readonly HeardOffer[];
  /** Our own servers and those that an operator named, by server identifier or by sender. */
  readonly trusted: ReadonlySet<IpAddress>;
  /** Hardware addresses of the senders, as far as they are known. */
  readonly hardwareAddresses: ReadonlyMap<IpAddress, HardwareAddress>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A server that was silent for so many rounds is gone: one lost datagram must not end the alarm. */
const MISSED_MAX = 3;
/** More servers than that on a link are an attack, and the first ones tell enough. */
const SERVERS_MAX = 64;

/** Who is there after the round, in a stable order. */
export function noteOffers(before: readonly ForeignServer[], round: OfferRound): readonly ForeignServer[] {
  const { asked, served, offers, trusted } = round;
  const after = new Map<string, ForeignServer>();
  for (const known of before) {
    if (!served.has(known.interfaceName) || trusted.has(known.server) || trusted.has(known.source)) continue;
    const missed = known.missed + (asked.has(known.interfaceName) ? 1 : 0);
    if (missed < MISSED_MAX) after.set(keyOf(known), { ...known, missed });
  }
  for (const offer of offers) {
    const server = offer.reply.serverIdentifier ?? offer.source;
    if (offer.reply.type !== "offer" || trusted.has(server) || trusted.has(offer.source)) continue;
    const key = keyOf({ interfaceName: offer.interfaceName, server });
    const known = after.get(key);
    if (known === undefined && after.size >= SERVERS_MAX) continue;
    after.set(key, heard({ offer, server, known, round }));
  }
  return [...after.values()].sort(
    (a, b) => compareText(a.interfaceName, b.interfaceName) || compareAddresses(a.server, b.server),
  );
}

function heard(from: {
  readonly offer: HeardOffer;
  readonly server: IpAddress;
  readonly known: ForeignServer | undefined;
  readonly round: OfferRound;
}): ForeignServer {
  const { offer, server, known, round } = from;
  const { interfaceName, source, reply } = offer;
  return {
    interfaceName,
    server,
    source,
    hardwareAddress: round.hardwareAddresses.get(source) ?? known?.hardwareAddress ?? null,
    offered: reply.address,
    routers: reply.routers,
    dnsServers: reply.dnsServers,
    leaseSeconds: reply.leaseSeconds,
    since: known?.since ?? round.now,
    missed: 0,
  };
}

/** Addresses named in one problem of each kind; a list may be as long as an option allows. */
const NAMED_MAX = 4;

/** One problem a server. Its text changes only when what it says does. */
export function foreignServerProblems(servers: readonly ForeignServer[]): readonly Problem[] {
  return servers.map((server) => ({
    code: "foreign-dhcp-server",
    at: server.interfaceName,
    message: `${who(server)} answers DHCP on a link that Berth serves, since ${new Date(server.since).toISOString()}: it offers ${what(server)}`,
    remedy: `find it by its hardware address and switch its DHCP off, or name ${server.server} in dhcpd.known_servers of the agent's configuration`,
  }));
}

function who({ server, source, hardwareAddress }: ForeignServer): string {
  const sender = server === source ? "" : `, sent from ${source}`;
  return `${server} (${hardwareAddress ?? "hardware address unknown"}${sender})`;
}

function what({ offered, routers, dnsServers, leaseSeconds }: ForeignServer): string {
  // On IPv6 routers are no matter of DHCP.
  const reach = offered !== null && addressFamily(offered) === 6 ? "" : `, routers ${list(routers)}`;
  const lease = leaseSeconds === null ? "" : ` for ${leaseSeconds === 0xffffffff ? "ever" : `${leaseSeconds} s`}`;
  return `${offered ?? "no address"}${lease}${reach}, DNS ${list(dnsServers)}`;
}

function list(addresses: readonly IpAddress[]): string {
  if (addresses.length === 0) return "none";
  const more = addresses.length > NAMED_MAX ? ` and ${addresses.length - NAMED_MAX} more` : "";
  return addresses.slice(0, NAMED_MAX).join(" ") + more;
}

function keyOf({ interfaceName, server }: Pick<ForeignServer, "interfaceName" | "server">): string {
  return `${interfaceName} ${server}`;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
