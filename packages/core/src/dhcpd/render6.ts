import { QUESTION_HARDWARE_ADDRESS } from "../dhcp-packet/question-hardware-address.js";
import type { Dhcpd6Config, DhcpdHost6, SharedNetwork6, SubnetDeclaration6 } from "./config6.js";
import { DHCPD_HEADER } from "./render.js";
import { block, listOption, plain, renderStatements, type Statement } from "./statement.js";

/** The text of `dhcpd -6`'s configuration: same configuration, same bytes; neither generation nor time is in it. */
export function renderDhcpd6(config: Dhcpd6Config): string {
  return DHCPD_HEADER + renderStatements(dhcpd6Statements(config));
}

function* dhcpd6Statements({ sharedNetworks, hosts }: Dhcpd6Config): Generator<Statement> {
  yield plain("ddns-update-style", "none");
  // The agents of all racks on the link ask for foreign servers under this address: known and without an address, it is offered none.
  yield block(["host", "berth-question"], [plain("hardware", "ethernet", QUESTION_HARDWARE_ADDRESS), plain("ignore", "booting")]);
  for (const network of sharedNetworks) yield sharedNetwork(network);
  for (const host of hosts) yield hostDeclaration(host);
}

function sharedNetwork(network: SharedNetwork6): Statement {
  const authority = network.authoritative ? plain("authoritative") : plain("not", "authoritative");
  return block(["shared-network", { text: network.name }], [authority, ...network.subnets.map(subnetDeclaration)]);
}

function subnetDeclaration(subnet: SubnetDeclaration6): Statement {
  const { leaseTimes, ranges } = subnet;
  const search = subnet.domainSearch.map((text) => ({ text }));
  return block(
    ["subnet6", subnet.prefix],
    [
      ...listOption("dhcp6.name-servers", subnet.domainNameServers),
      ...listOption("dhcp6.domain-search", search),
      ...listOption("dhcp6.sntp-servers", subnet.sntpServers),
      plain("min-lease-time", String(leaseTimes.min)),
      plain("default-lease-time", String(leaseTimes.usual)),
      plain("max-lease-time", String(leaseTimes.max)),
      ...(ranges.length === 0
        ? []
        : [
            // A machine with a host declaration gets its fixed address or nothing.
            block(["pool6"], [plain("deny", "known-clients"), ...ranges.map(({ first, last }) => plain("range6", first, last))]),
          ]),
    ],
  );
}

function hostDeclaration({ name, hardwareAddress, fixedAddress }: DhcpdHost6): Statement {
  return block(["host", name], [plain("hardware", "ethernet", hardwareAddress), plain("fixed-address6", fixedAddress)]);
}
