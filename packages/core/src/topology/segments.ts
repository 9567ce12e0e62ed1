import { isEthernet, type HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { IpPrefix } from "../address/prefix.js";
import { comparePrefixes, networksOf } from "../interface/covering-prefix.js";
import type { HostInterface } from "../interface/model.js";
import { rackVerdicts } from "./fleet-verdict.js";
import type { TopologyRack, Topology } from "./topology.js";

/** One broadcast domain, as far as racks can tell: who is on it with which interface, and the networks seen there. */
export interface Segment {
  readonly site: string;
  readonly members: readonly { readonly rack: string; readonly interfaceName: string }[];
  readonly prefixes: readonly IpPrefix[];
}

/** An interface of a rack in the forest of joined sets. */
interface Port {
  readonly rack: string;
  readonly site: string;
  readonly interfaceName: string;
  readonly prefixes: readonly IpPrefix[];
  parent: Port | null;
}

/**
 * Interfaces of racks that share a prefix in one site, or of which one sees the other's hardware address among its neighbours, are on one segment.
 * By site, then by the first member.
 */
export function segments(topology: Topology): readonly Segment[] {
  const ports = new Map<string, Port>();
  const byPrefix = new Map<string, Port>();
  for (const facts of topology.racks.values()) for (const port of portsOf(topology, facts)) ports.set(portKey(port), port);
  for (const port of ports.values()) {
    for (const prefix of port.prefixes) {
      const other = byPrefix.get(`${prefix} ${port.site}`);
      if (other === undefined) byPrefix.set(`${prefix} ${port.site}`, port);
      else join(port, other);
    }
  }
  joinNeighbors(topology, ports);
  return gather([...ports.values()]);
}

function portsOf(topology: Topology, facts: TopologyRack): readonly Port[] {
  const { rack, site } = facts.report;
  const verdicts = rackVerdicts(topology, facts);
  return facts.report.interfaces.flatMap(({ name }): readonly Port[] => {
    const prefixes = networksOf(verdicts.filter((verdict) => verdict.interfaceName === name));
    return prefixes.length === 0 ? [] : [{ rack, site, interfaceName: name, prefixes, parent: null }];
  });
}

/** A bond and its VLANs share one hardware address: the neighbour's IP address says which of them was seen, or nothing is concluded. */
function joinNeighbors(topology: Topology, ports: ReadonlyMap<string, Port>): void {
  const owners = new Map<string, { rack: string; entry: HostInterface }[]>();
  for (const { report } of topology.racks.values()) {
    for (const entry of report.interfaces) {
      if (entry.hardwareAddress === null || !isTelling(entry.hardwareAddress)) continue;
      const key = `${entry.hardwareAddress} ${report.site}`;
      owners.set(key, [...(owners.get(key) ?? []), { rack: report.rack, entry }]);
    }
  }
  for (const { report } of topology.racks.values()) {
    for (const { interfaceName, hardwareAddress, address } of report.neighbors ?? []) {
      const own = ports.get(`${report.rack} ${interfaceName}`);
      const seen = ownerOf(owners.get(`${hardwareAddress} ${report.site}`) ?? [], address);
      const other = seen === null ? undefined : ports.get(`${seen.rack} ${seen.entry.name}`);
      if (own !== undefined && other !== undefined && other.rack !== own.rack) join(own, other);
    }
  }
}

function ownerOf(
  owners: readonly { readonly rack: string; readonly entry: HostInterface }[],
  address: IpAddress,
): { readonly rack: string; readonly entry: HostInterface } | null {
  const exact = owners.filter(({ entry }) => entry.addresses.some((own) => own.address === address));
  if (exact.length === 1) return exact[0] ?? null;
  return owners.length === 1 ? (owners[0] ?? null) : null;
}

/** A VRRP address moves between hosts and says nothing of who is there (RFC 9568 §7.3). */
function isTelling(address: HardwareAddress): boolean {
  return isEthernet(address) && !address.startsWith("00:00:5e:00:01:") && !address.startsWith("00:00:5e:00:02:");
}

function portKey({ rack, interfaceName }: Port): string {
  return `${rack} ${interfaceName}`;
}

function rootOf(port: Port): Port {
  let root = port;
  while (root.parent !== null) root = root.parent;
  return root;
}

function join(a: Port, b: Port): void {
  const [x, y] = [rootOf(a), rootOf(b)];
  if (x !== y) x.parent = y;
}

function gather(ports: readonly Port[]): readonly Segment[] {
  const groups = new Map<Port, Port[]>();
  for (const port of ports) {
    const root = rootOf(port);
    groups.set(root, [...(groups.get(root) ?? []), port]);
  }
  return [...groups.values()]
    .map((group) => ({
      site: group[0]?.site ?? "",
      members: group.map(({ rack, interfaceName }) => ({ rack, interfaceName })).sort(byMember),
      prefixes: [...new Set(group.flatMap(({ prefixes }) => prefixes))].sort(comparePrefixes),
    }))
    .sort((a, b) => compareText(a.site, b.site) || compareText(memberText(a), memberText(b)));
}

function byMember(a: { rack: string; interfaceName: string }, b: { rack: string; interfaceName: string }): number {
  return compareText(a.rack, b.rack) || compareText(a.interfaceName, b.interfaceName);
}

function memberText({ members }: Segment): string {
  return members.map(({ rack, interfaceName }) => `${rack} ${interfaceName}`)[0] ?? "";
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
