import { addressBits, addressFamily, ipAddress, type IpAddress } from "../../packages/core/src/address/ip.js";
import type { HostInterface, InterfaceAddress } from "../../packages/core/src/interface/model.js";
import { mergeReport } from "../../packages/core/src/topology/merge.js";
import {
  emptyTopology,
  type RackReport,
  type RegionKnowledge,
  type Topology,
  type TopologyEvent,
} from "../../packages/core/src/topology/topology.js";

/** `192.168.0.28/24 secondary` */
export function interfaceAddress(text: string): InterfaceAddress {
  const [cidr = "", ...flags] = text.split(" ");
  const [own = "", length] = cidr.split("/");
  const address = ipAddress(own);
  return {
    address,
    prefixLength: length === undefined ? addressBits(addressFamily(address)) : Number(length),
    peer: null,
    broadcast: null,
    scope: "global",
    label: null,
    flags,
    protocol: null,
    validLifetime: flags.includes("dynamic") ? 3600 : null,
    preferredLifetime: flags.includes("dynamic") ? 3600 : null,
  };
}

/** A host with these addresses by interface; `lo` is marked as the loopback. */
export function hostWith(addresses: Readonly<Record<string, readonly string[]>>): readonly HostInterface[] {
  return Object.entries(addresses).map(([name, own], i) => ({
    name,
    index: i + 1,
    parent: null,
    kind: null,
    vlanId: null,
    hardwareAddress: null,
    permanentAddress: null,
    flags: name === "lo" ? ["LOOPBACK", "UP", "LOWER_UP"] : ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
    mtu: 1500,
    addresses: own.map(interfaceAddress),
  }));
}

/** A region for tests: reports are numbered by themselves, events collected. */
export class Fleet {
  topology: Topology;
  readonly events: TopologyEvent[] = [];
  private sequence = 0;

  constructor(knowledge: Partial<RegionKnowledge> = {}) {
    this.topology = emptyTopology(knowledge);
  }

  report(
    rack: string,
    addresses: Readonly<Record<string, readonly string[]>> | readonly string[],
    now: number,
    more: Partial<RackReport> = {},
  ): void {
    this.sequence += 1;
    const interfaces = hostWith(
      Array.isArray(addresses) ? { eth0: addresses as readonly string[] } : (addresses as Record<string, readonly string[]>),
    );
    const report = { rack, name: rack, site: "default", session: 1, sequence: this.sequence, interfaces, ...more };
    const step = mergeReport(this.topology, report, now);
    this.topology = step.topology;
    this.events.push(...step.events);
  }
}

export function addresses(...texts: readonly string[]): ReadonlySet<IpAddress> {
  return new Set(texts.map(ipAddress));
}
