import { isEthernet } from "../address/hardware.js";
import { netmask, prefixLength, prefixNetwork } from "../address/prefix.js";
import { QUESTION_HARDWARE_ADDRESS } from "../dhcp-packet/question-hardware-address.js";
import type { DhcpdConfig, DhcpdHost, Pool, SharedNetwork, SubnetDeclaration } from "./config.js";
import { omapiStatements, type OmapiSettings } from "./omapi.js";
import { block, listOption, plain, renderStatements, type Statement } from "./statement.js";

/** First line of a managed dhcpd.conf; by it a file is known to be ours. */
export const DHCPD_HEADER = "# Managed by Berth and replaced whole: edits are lost. See berth-agent status.\n";

/** The text of dhcpd.conf: same configuration, same bytes; neither generation nor time is in it. */
export function renderDhcpd(config: DhcpdConfig, omapi: OmapiSettings | null = null): string {
  return DHCPD_HEADER + renderStatements(dhcpdStatements(config, omapi));
}

function* dhcpdStatements(config: DhcpdConfig, omapi: OmapiSettings | null): Generator<Statement> {
  yield* globals();
  if (omapi !== null) yield* omapiStatements(omapi);
  for (const network of config.sharedNetworks) yield sharedNetwork(network);
  for (const host of config.hosts) yield hostDeclaration(host);
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
  const { options, leaseTimes } = subnet;
  return block(
    ["subnet", prefixNetwork(subnet.prefix), "netmask", netmask(prefixLength(subnet.prefix))],
    [
      plain("option", "dhcp-server-identifier", subnet.serverIdentifier),
      ...listOption("routers", options.routers),
      ...(options.domainName === null ? [] : [plain("option", "domain-name", { text: options.domainName })]),
      ...listOption(
        "domain-search",
        options.domainSearch.map((text) => ({ text })),
      ),
      ...listOption("domain-name-servers", options.domainNameServers),
      ...listOption("ntp-servers", options.ntpServers),
      plain("min-lease-time", String(leaseTimes.min)),
      plain("default-lease-time", String(leaseTimes.usual)),
      plain("max-lease-time", String(leaseTimes.max)),
      ...subnet.pools.map((pool) => poolDeclaration(pool, leaseTimes.usual)),
    ],
  );
}

function poolDeclaration(pool: Pool, leaseTime: number): Statement {
  return block(
    ["pool"],
    [
      // A statement of its own keeps dhcpd from merging this pool with its neighbours, which would make its start slow again.
      plain("default-lease-time", String(leaseTime)),
      // A machine with a host declaration gets its fixed address or nothing.
      plain("deny", "known-clients"),
      ...pool.ranges.map((range) => plain("range", range.first, range.last)),
    ],
  );
}

function hostDeclaration(host: DhcpdHost): Statement {
  // IPoIB has 20 octets, which only `infiniband` may hold: after `ethernet` dhcpd takes them and never matches (RFC 4390).
  const type = isEthernet(host.hardwareAddress) ? "ethernet" : "infiniband";
  return block(
    ["host", host.name],
    [
      plain("hardware", type, host.hardwareAddress),
      plain("fixed-address", host.fixedAddress),
      plain("option", "host-name", { text: host.hostName }),
      ...(host.domainName === null ? [] : [plain("option", "domain-name", { text: host.domainName })]),
    ],
  );
}
