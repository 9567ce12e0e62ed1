import { addressFamily, parseIpAddress, type IpAddress } from "../address/ip.js";
import { prefixContains, type IpPrefix } from "../address/prefix.js";
import { keyword, type ConfNode } from "./conf-tree.js";
import type { FoundSubnet } from "./find-subnet.js";
import type { Findings } from "./findings.js";
import type { AdoptedSubnet } from "./plan.js";
import { findSetting, settingValues } from "./settings.js";

/** What is known of the host that a file is for. */
export interface AdoptingHost {
  /** Its own addresses; null when they are not known. */
  readonly addresses: readonly IpAddress[] | null;
}

/** Which subnets of a file are on the host's own links, and which are reached through relays. */
export class Wires {
  private readonly own: readonly IpAddress[] | null;
  private readonly wires = new Map<ConfNode, FoundSubnet[]>();
  /** Prefixes of subnets in which nothing is served: relayed messages may arrive there. */
  private readonly carriers: IpPrefix[] = [];
  private readonly findings: Findings;

  constructor({ addresses }: AdoptingHost, findings: Findings) {
    this.own = addresses;
    this.findings = findings;
  }

  add(found: FoundSubnet): void {
    const wire = wireOf(found.node);
    this.wires.set(wire, [...(this.wires.get(wire) ?? []), found]);
  }

  addCarrier(prefix: IpPrefix): void {
    this.carriers.push(prefix);
  }

  /** Of IPv4; `dhcpd -6` is told no server identifier. */
  withRelay(subnet: AdoptedSubnet, found: FoundSubnet): AdoptedSubnet {
    const { node } = found;
    const statement = findSetting(node, "server-identifier") ?? findSetting(node, "option dhcp-server-identifier");
    const identifier = statement === null ? null : parseIpAddress(settingValues(statement)[0] ?? "");
    const wire = this.wires.get(wireOf(node)) ?? [found];
    const isOnWire = (address: IpAddress): boolean => wire.some(({ prefix }) => prefixContains(prefix, address));
    if (statement !== null && identifier === null) this.findings.add(statement, "a server that is named, not an address");
    if (!this.isRelayed(identifier, isOnWire)) {
      if (statement !== null && identifier !== null && this.own !== null && !this.own.includes(identifier))
        this.findings.add(statement, "no address of this host; Berth tells machines the rack's own");
      else if (statement !== null && identifier !== null && !prefixContains(found.prefix, identifier))
        this.findings.add(statement, `Berth tells machines of ${found.prefix} the rack's own address there`);
      if (this.own !== null && !this.own.some((address) => prefixContains(found.prefix, address)) && this.isHere())
        this.findings.add(node, "Berth serves it only where this host has an address in it: give it one");
      return subnet;
    }
    if (wire.length > 1)
      this.findings.add(node, "Berth serves each relayed network by itself: its relay must speak with an address in it");
    const server = identifier ?? this.onlyCandidate();
    if (server === null || (this.own !== null && !this.own.includes(server))) {
      this.findings.add(
        node,
        "it is on no link of this host, and to which address its relays forward is not in the file: give it with --relayed-to",
      );
      return subnet;
    }
    return { ...subnet, dhcp: { ...subnet.dhcp, relay: { servers: [server] } } };
  }

  private isRelayed(identifier: IpAddress | null, isOnWire: (address: IpAddress) => boolean): boolean {
    if (this.own === null || !this.isHere())
      return identifier !== null && addressFamily(identifier) === 4 && !isOnWire(identifier);
    return !this.own.some(isOnWire);
  }

  /** A file of another host has none of its networks here, and then nothing is known. */
  private isHere(): boolean {
    const prefixes = [...this.carriers, ...[...this.wires.values()].flat().map(({ prefix }) => prefix)];
    return this.own?.some((address) => prefixes.some((prefix) => prefixContains(prefix, address))) === true;
  }

  /** The one address of this host in a network that the file names. */
  private onlyCandidate(): IpAddress | null {
    const prefixes = [...this.carriers, ...[...this.wires.values()].flat().map(({ prefix }) => prefix)];
    const inside = (this.own ?? []).filter((address) => prefixes.some((prefix) => prefixContains(prefix, address)));
    return inside.length === 1 ? (inside[0] ?? null) : null;
  }
}

/** The shared network around a subnet, or the subnet by itself. */
function wireOf(node: ConfNode): ConfNode {
  for (let scope = node.outer; scope !== null; scope = scope.outer)
    if (keyword(scope.words[0]) === "shared-network") return scope;
  return node;
}
