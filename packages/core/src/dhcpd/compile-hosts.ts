import { addressFamily, ipv4Number, type IpAddress } from "../address/ip.js";
import type { DesiredHost, DesiredSubnet } from "../desired/schema.js";
import type { Problem } from "../problem.js";
import type { HostGroup } from "./config.js";
import type { RackLinks } from "./rack-links.js";

/** A machine at an address that the rack or the gateway answers for would take the subnet down, so that one host is left out. */
export function compileHosts(
  subnet: DesiredSubnet,
  { local, warnings }: { readonly local: RackLinks; readonly warnings: Problem[] },
): HostGroup[] {
  const taken = new Map<IpAddress, string>(local.links.map(({ address }) => [address, "this rack's own address"]));
  if (subnet.gateway !== null) taken.set(subnet.gateway, "the gateway");
  const all = byAddress(subnet.hosts);
  const left = all.hosts.filter(isTaken(taken, all.numbers));
  for (const { address, hardwareAddress } of left.toSorted(byHardwareAddress)) {
    warnings.push({
      code: "fixed-address-in-use",
      at: `subnet ${subnet.prefix} host ${hardwareAddress}`,
      message: `${address} is ${taken.get(address) ?? "taken"}, so this machine gets no address`,
      remedy: "give the machine another address",
    });
  }
  const hosts = left.length === 0 ? all.hosts : all.hosts.filter(({ address }) => !taken.has(address));
  return hosts.length === 0 ? [] : [{ subnetId: subnet.id, domain: subnet.domain, hosts }];
}

interface NumberedHosts {
  readonly hosts: readonly DesiredHost[];
  /** Their addresses. */
  readonly numbers: Uint32Array;
}

function isTaken(taken: ReadonlyMap<IpAddress, string>, numbers: Uint32Array): (host: DesiredHost, place: number) => boolean {
  const own = new Set([...taken.keys()].filter((address) => addressFamily(address) === 4).map(ipv4Number));
  return (_, place) => own.has(numbers[place] ?? -1);
}

function byHardwareAddress(a: DesiredHost, b: DesiredHost): number {
  return a.hardwareAddress < b.hardwareAddress ? -1 : 1;
}

/** They nearly always come in this order, which one look tells. */
function byAddress(hosts: readonly DesiredHost[]): NumberedHosts {
  const numbers = numbersOf(hosts);
  const compare = (a: number, b: number): number => {
    const [host, other] = [hosts[a], hosts[b]];
    const apart = (numbers[a] ?? 0) - (numbers[b] ?? 0);
    return apart !== 0 || host === undefined || other === undefined ? apart : byHardwareAddress(host, other);
  };
  let place = 1;
  while (place < hosts.length && compare(place - 1, place) < 0) place++;
  if (place >= hosts.length) return { hosts, numbers };
  const order = Uint32Array.from(hosts.keys()).sort(compare);
  const sorted = Array.from(order, (from) => hosts[from]).filter((host) => host !== undefined);
  return { hosts: sorted, numbers: numbersOf(sorted) };
}

function numbersOf(hosts: readonly DesiredHost[]): Uint32Array {
  const numbers = new Uint32Array(hosts.length);
  let place = 0;
  for (const { address } of hosts) numbers[place++] = ipv4Number(address);
  return numbers;
}
