import { accepted, refused, type Problem, type Result } from "../problem.js";
import type { ExportedAddress, ExportedMachine } from "./exported-machine.js";

export interface NetworkLink {
  readonly dhcp4: boolean;
  readonly dhcp6: boolean;
  readonly addresses?: readonly string[];
  readonly routes?: readonly { readonly to: "default"; readonly via: string }[];
  readonly nameservers?: { readonly search: readonly string[]; readonly addresses: readonly string[] };
}

/** Network configuration in version 2: the part of netplan(5) that cloud-init takes, too. */
export interface NetworkConfig {
  readonly version: 2;
  readonly ethernets: Readonly<Record<string, NetworkLink & { readonly match: { readonly macaddress: string } }>>;
  readonly bonds?: Readonly<
    Record<string, NetworkLink & { readonly interfaces: readonly string[]; readonly parameters: { readonly mode: string } }>
  >;
}

/** The name servers that machines of a subnet are given, by its number. */
export type ServersOf = (subnetId: number) => readonly string[];

/** Works with every switch; other modes need its configuration, which nobody told us. */
const BOND_MODE = "active-backup";
const ETHERNET_CHARACTERS = 17;

/**
 * What a machine writes down to configure its own static addresses, with NICs matched by hardware address. Several NICs with one address are
 * a bond. The first address of each family whose subnet has a gateway gives the default route. Refused for a machine without an address and for NICs that netplan cannot match.
 */
export function networkConfig(machine: ExportedMachine, dnsOf: ServersOf): Result<NetworkConfig> {
  const addresses = machine.addresses.filter(({ kind }) => kind !== "vip");
  if (addresses.length === 0) return refused(withoutAddress(machine));
  const strange = machine.nics.filter((nic) => nic.length !== ETHERNET_CHARACTERS);
  if (strange.length > 0) return refused(...strange.map((nic) => notEthernet(machine, nic)));
  const gateways = defaultRoutes(addresses);
  const ethernets: [string, NetworkConfig["ethernets"][string]][] = [];
  const bonds: [string, NonNullable<NetworkConfig["bonds"]>[string]][] = [];
  for (const { addresses: own, nics } of linksOf(addresses, machine.nics)) {
    const link = linkOf(own, { dnsOf, gateways });
    const names = nics.map((nic) => `nic${machine.nics.indexOf(nic)}`);
    if (nics.length === 1) {
      ethernets.push([names[0] ?? "", { match: { macaddress: nics[0] ?? "" }, ...link }]);
      continue;
    }
    for (const [index, nic] of nics.entries())
      ethernets.push([names[index] ?? "", { match: { macaddress: nic }, dhcp4: false, dhcp6: false }]);
    bonds.push([`bond${bonds.length}`, { interfaces: names, parameters: { mode: BOND_MODE }, ...link }]);
  }
  const parts = { version: 2, ethernets: Object.fromEntries(ethernets) } as const;
  return accepted(bonds.length === 0 ? parts : { ...parts, bonds: Object.fromEntries(bonds) });
}

interface LinkAddresses {
  readonly nics: readonly string[];
  readonly addresses: readonly ExportedAddress[];
}

/**
 * Which NICs carry which addresses. A NIC that has an address of its own is no part of another's bond: only its machine's identity there. Sets
 * of NICs that still share one are one bond.
 */
function linksOf(addresses: readonly ExportedAddress[], all: readonly string[]): readonly LinkAddresses[] {
  const alone = new Set(addresses.flatMap(({ nics }) => (nics.length === 1 ? nics : [])));
  const links: { nics: string[]; addresses: ExportedAddress[] }[] = [];
  for (const address of addresses) {
    // An additional address may name no NIC: it goes where the machine's first one is.
    const named = address.nics.length > 0 ? address.nics : all.slice(0, 1);
    const rest = named.length === 1 ? named : named.filter((nic) => !alone.has(nic));
    const nics = rest.length > 0 ? rest : named.slice(0, 1);
    const touched = links.filter((link) => link.nics.some((nic) => nics.includes(nic)));
    const joined = {
      nics: [...new Set([...touched.flatMap((link) => link.nics), ...nics])],
      addresses: [...touched.flatMap((link) => link.addresses), address],
    };
    for (const link of touched) links.splice(links.indexOf(link), 1);
    links.push(joined);
  }
  return links;
}

function linkOf(
  addresses: readonly ExportedAddress[],
  { dnsOf, gateways }: { readonly dnsOf: ServersOf; readonly gateways: ReadonlyMap<ExportedAddress, string> },
): NetworkLink {
  const routes = addresses.flatMap((address) => {
    const via = gateways.get(address);
    return via === undefined ? [] : [{ to: "default" as const, via }];
  });
  const servers = [...new Set(addresses.flatMap(({ subnetId }) => dnsOf(subnetId)))];
  const search = [...new Set(addresses.map(({ domain }) => domain))];
  return {
    dhcp4: false,
    dhcp6: false,
    addresses: addresses.map(({ address, prefixLength }) => `${address}/${prefixLength}`),
    ...(routes.length === 0 ? {} : { routes }),
    ...(servers.length === 0 ? {} : { nameservers: { search, addresses: servers } }),
  };
}

/** One for each family: two default routes of equal metric would be a matter of luck. */
function defaultRoutes(addresses: readonly ExportedAddress[]): ReadonlyMap<ExportedAddress, string> {
  const routes = new Map<ExportedAddress, string>();
  for (const family of [4, 6] as const) {
    const first = addresses.find(({ gateway }) => gateway !== null && gateway.includes(":") === (family === 6));
    if (first?.gateway !== undefined && first.gateway !== null) routes.set(first, first.gateway);
  }
  return routes;
}

function withoutAddress({ id, name }: ExportedMachine): Problem {
  const at = `machine ${id ?? name}`;
  return { code: "machine-without-address", at, message: "it has no static address", remedy: "enroll it first" };
}

function notEthernet({ name }: ExportedMachine, nic: string): Problem {
  const message = `netplan matches NICs by 6 octets only, not by ${nic}`;
  return { code: "nic-not-matched", at: `machine ${name}`, message, remedy: "leave this machine to DHCP" };
}
