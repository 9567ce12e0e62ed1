import { addressBytes } from "../address/ip.js";
import { netmask, prefixLength, prefixNetwork, type IpPrefix } from "../address/prefix.js";
import type { AsciiText } from "../text/ascii-text.js";
import { QUESTION_HARDWARE_ADDRESS } from "../dhcp-packet/question-hardware-address.js";
import type { DhcpdConfig, FailoverPeer, Pool, Route, SharedNetwork, SubnetDeclaration, SubnetOptions } from "./config.js";
import { snippetMarks } from "./dhcpd-refusal.js";
import { omapiStatements, type OmapiSettings } from "./omapi.js";
import { bootStatements, IPXE_FEATURES } from "./render-boot.js";
import { addStatements, block, IS, listOption, plain, type Statement } from "./statement.js";

/** First line of a managed dhcpd.conf; by it a file is known to be ours. */
export const DHCPD_HEADER = "# Managed by Berth and replaced whole: edits are lost. See berth-agent status.\n";

/** What stands in dhcpd.conf before the hosts; neither generation nor time is in it. */
export function addHead(text: AsciiText, config: DhcpdConfig, omapi: OmapiSettings | null): void {
  text.add(DHCPD_HEADER);
  addStatements(text, dhcpdStatements(config, omapi));
}

function* dhcpdStatements(config: DhcpdConfig, omapi: OmapiSettings | null): Generator<Statement> {
  yield* globals();
  if (omapi !== null) yield* omapiStatements(omapi);
  yield* definitions(config);
  for (const peer of config.failovers) yield failoverPeer(peer);
  for (const network of config.sharedNetworks) yield sharedNetwork(network);
  for (const prefix of config.carriers) yield carrier(prefix);
}

function globals(): Statement[] {
  return [
    plain("ddns-update-style", "none"),
    // A machine is its hardware address: cloned disk images send equal client identifiers, and dhcpd would give both one address.
    plain("ignore-client-uids", "true"),
    plain("ping-check", "true"),
    plain("ping-timeout", "1"),
    // The agent asks for foreign DHCP servers under this address; dhcpd sees the question and must not hold an address for it.
    block(["host", "berth-question"], [plain("hardware", "ethernet", QUESTION_HARDWARE_ADDRESS), plain("ignore", "booting")]),
  ];
}

/** Options that dhcpd does not know by itself, where they are used. */
function definitions({ sharedNetworks }: DhcpdConfig): Statement[] {
  const subnets = sharedNetworks.flatMap(({ subnets: all }) => all);
  return [
    ...(subnets.some(({ boot }) => boot !== null && boot.ipxe !== null)
      ? [plain("option", IPXE_FEATURES, "code", "175", IS, "string")]
      : []),
    ...(subnets.some(({ options }) => options.routes.length > 0)
      ? [plain("option", ROUTES, "code", "121", IS, "array", "of", "unsigned", "integer", "8")]
      : []),
  ];
}

const ROUTES = "berth-routes";

/** A pair is told apart from a split window by each knowing all leases of the other. Numbers that are no settings are dhcpd.conf(5)'s examples. */
function failoverPeer(peer: FailoverPeer): Statement {
  return block(
    ["failover", "peer", { text: peer.name }],
    [
      plain(peer.role),
      plain("address", peer.address),
      plain("port", String(peer.port)),
      plain("peer", "address", peer.partner),
      plain("peer", "port", String(peer.port)),
      plain("max-response-delay", "10"),
      plain("max-unacked-updates", "10"),
      plain("load", "balance", "max", "seconds", "3"),
      // The primary alone decides these, dhcpd.conf(5).
      ...(peer.role === "primary" ? [plain("mclt", String(peer.mclt)), plain("split", String(peer.split))] : []),
    ],
  );
}

/** A link on which only relays speak: known, and nothing is served there. */
function carrier(prefix: IpPrefix): Statement {
  return block(
    ["subnet", prefixNetwork(prefix), "netmask", netmask(prefixLength(prefix))],
    [{ kind: "comment", text: "relayed messages arrive here; nothing is served" }, plain("not", "authoritative")],
  );
}

function sharedNetwork(network: SharedNetwork): Statement {
  return block(
    ["shared-network", { text: network.name }],
    [
      network.authoritative ? plain("authoritative") : plain("not", "authoritative"),
      // Also here: a refusal (NAK) of an address that is in none of the subnets takes it from this level.
      plain("option", "dhcp-server-identifier", network.serverIdentifier),
      ...network.subnets.map(subnetDeclaration),
    ],
  );
}

function subnetDeclaration(subnet: SubnetDeclaration): Statement {
  const { leaseTimes } = subnet;
  return block(
    ["subnet", prefixNetwork(subnet.prefix), "netmask", netmask(prefixLength(subnet.prefix))],
    [
      plain("option", "dhcp-server-identifier", subnet.serverIdentifier),
      ...optionStatements(subnet.options),
      plain("min-lease-time", String(leaseTimes.min)),
      plain("default-lease-time", String(leaseTimes.usual)),
      plain("max-lease-time", String(leaseTimes.max)),
      ...(subnet.boot === null ? [] : bootStatements(subnet.boot)),
      ...snippetStatements(subnet),
      ...subnet.pools.map((pool) => poolDeclaration(pool, subnet)),
    ],
  );
}

function optionStatements(options: SubnetOptions): Statement[] {
  return [
    ...listOption("routers", options.routers),
    ...(options.routes.length === 0 ? [] : listOption(ROUTES, options.routes.flatMap(routeOctets).map(String))),
    ...(options.domainName === null ? [] : [plain("option", "domain-name", { text: options.domainName })]),
    ...listOption(
      "domain-search",
      options.domainSearch.map((text) => ({ text })),
    ),
    ...listOption("domain-name-servers", options.domainNameServers),
    ...listOption("ntp-servers", options.ntpServers),
    ...(options.mtu === null ? [] : [plain("option", "interface-mtu", String(options.mtu))]),
    ...options.more.map(({ name, value }) => {
      if (typeof value === "number") return plain("option", name, String(value));
      return plain("option", name, "text" in value ? value : { list: value.addresses });
    }),
  ];
}

/** RFC 3442: length of the prefix, as many octets of it as count, the router. */
function routeOctets({ prefix, via }: Route): number[] {
  const length = prefixLength(prefix);
  const significant = addressBytes(prefixNetwork(prefix)).slice(0, Math.ceil(length / 8));
  return [length, ...significant, ...addressBytes(via)];
}

function snippetStatements({ prefix, snippet }: SubnetDeclaration): Statement[] {
  if (snippet === null) return [];
  const { before, after } = snippetMarks(prefix);
  return [
    { kind: "comment", text: before },
    { kind: "verbatim", text: snippet },
    { kind: "comment", text: after },
  ];
}

function poolDeclaration(pool: Pool, { leaseTimes, failover }: SubnetDeclaration): Statement {
  return block(
    ["pool"],
    [
      // A statement of its own keeps dhcpd from merging this pool with its neighbours, which would make its start slow again.
      plain("default-lease-time", String(leaseTimes.usual)),
      // BOOTP leases never end, so two servers cannot share them, dhcpd.conf(5).
      ...(failover === null ? [] : [plain("failover", "peer", { text: failover }), plain("deny", "dynamic", "bootp", "clients")]),
      // A machine with a host declaration gets its fixed address or nothing.
      plain("deny", "known-clients"),
      ...pool.ranges.map((range) => plain("range", range.first, range.last)),
    ],
  );
}
