import {
  emptyTopology,
  ipAddress,
  mergeReport,
  type HostInterface,
  type InterfaceAddress,
  type RackReport,
  type Topology,
} from "@berth/core";

/** A fleet for the benchmark: racks with eight addresses each on two networks that a handful of racks share. */
export interface BenchFleet {
  readonly size: number;
  topology: Topology;
  sequence: number;
}

export function createFleet(size: number): BenchFleet {
  const fleet: BenchFleet = { size, topology: emptyTopology(), sequence: 0 };
  for (let rack = 0; rack < size; rack++) mergeOne(fleet, nextReport(fleet, rack, true));
  return fleet;
}

export function mergeOne(fleet: BenchFleet, report: RackReport): void {
  fleet.topology = mergeReport(fleet.topology, report, report.sequence).topology;
}

/** What a rack says next, with or without the VIP that comes and goes. */
export function nextReport(fleet: BenchFleet, rack: number, withVip: boolean): RackReport {
  fleet.sequence += 1;
  const { sequence } = fleet;
  const [high, low] = [rack >> 8, rack & 255];
  const eth0 = [
    `10.${high}.${low}.2/24`,
    `10.${high}.${low}.3/24`,
    `10.${high}.${low}.4/32`,
    `2001:db8:${rack.toString(16)}::2/64`,
  ];
  const eth1 = [`172.16.${low}.${(high % 250) + 1}/24`, `10.${100 + high}.${low}.2/24`, `2001:db8:${rack.toString(16)}:1::2/64`];
  const vip = withVip ? [`10.${200 + (high >> 4)}.${low}.9/32`] : [];
  const interfaces = [nic("lo", 1, ["127.0.0.1/8"]), nic("eth0", 2, eth0), nic("eth1", 3, [...eth1, ...vip])];
  return { rack: `rack-${rack}`, name: `rack-${rack}`, site: `site-${rack >> 6}`, session: 1, sequence, interfaces };
}

function nic(name: string, index: number, cidrs: readonly string[]): HostInterface {
  return {
    name,
    index,
    parent: null,
    kind: null,
    vlanId: null,
    hardwareAddress: null,
    permanentAddress: null,
    flags: name === "lo" ? ["LOOPBACK", "UP", "LOWER_UP"] : ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
    mtu: 1500,
    addresses: cidrs.map(onNic),
  };
}

function onNic(cidr: string): InterfaceAddress {
  const [address = "", length] = cidr.split("/");
  return {
    address: ipAddress(address),
    prefixLength: Number(length),
    peer: null,
    broadcast: null,
    scope: address.startsWith("127.") ? "host" : "global",
    label: null,
    flags: [],
    protocol: null,
    validLifetime: null,
    preferredLifetime: null,
  };
}
