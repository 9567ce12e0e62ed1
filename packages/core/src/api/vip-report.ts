import { addressBits, addressFamily, compareAddresses, type IpAddress } from "../address/ip.js";
import { prefixAround, type IpPrefix } from "../address/prefix.js";
import { mergeByAddress } from "../interface/verdict.js";
import type { Allocation, Subnet } from "../ipam/model.js";
import { nameOf, rackVerdicts } from "../topology/fleet-verdict.js";
import { virtualAddresses, type Holder, type VirtualAddress } from "../topology/holders.js";
import type { Topology } from "../topology/topology.js";
import { isoTime } from "./lease-view.js";
import type { VipMoveView, VipView } from "./vip.js";

export interface VipSources {
  readonly topology: Topology;
  readonly subnets: readonly Subnet[];
  readonly allocations: readonly Allocation[];
}

/** All virtual addresses, by site, then numeric: those that racks have or had, and those of the ledger that no rack ever had. */
export function viewVips({ topology, subnets, allocations }: VipSources): readonly VipView[] {
  const sites = new Map(subnets.map(({ id, site }) => [id, site]));
  const owners = new Map<string, Allocation>();
  for (const allocation of allocations)
    if (allocation.kind === "vip") owners.set(`${allocation.address} ${sites.get(allocation.subnetId) ?? ""}`, allocation);
  const seen = virtualAddresses(topology);
  const known = new Set(seen.map(({ address, site }) => `${address} ${site}`));
  const unseen = allocations
    .filter(({ kind }) => kind === "vip")
    .map(({ address, subnetId }): VirtualAddress => ({ site: sites.get(subnetId) ?? "", address, holders: [], moves: [] }))
    .filter(({ address, site }) => !known.has(`${address} ${site}`));
  const prefixes = prefixesBySite(subnets);
  return [...seen, ...unseen]
    .sort((a, b) => (a.site === b.site ? compareAddresses(a.address, b.address) : a.site < b.site ? -1 : 1))
    .map((entry): VipView => {
      const owned = owners.get(`${entry.address} ${entry.site}`);
      return {
        site: entry.site,
        address: entry.address,
        subnet: smallestAround(prefixes.get(entry.site), entry.address),
        owner: owned?.name ?? null,
        allocation: owned?.id ?? null,
        owners: [...(owned?.owners ?? [])],
        holders: byName(entry.holders).map(({ name, interfaceName, since, lost, unattached }) => ({
          rack: name,
          interface: interfaceName,
          since: isoTime(since),
          silent: lost,
          anycast: unattached,
        })),
        reasons: reasonsOf(topology, entry),
        moves: entry.moves.length,
        lastMove: lastMove(topology, entry),
      };
    });
}

function prefixesBySite(subnets: readonly Subnet[]): ReadonlyMap<string, ReadonlySet<IpPrefix>> {
  const sites = new Map<string, Set<IpPrefix>>();
  for (const { prefix, site } of subnets) sites.set(site, (sites.get(site) ?? new Set()).add(prefix));
  return sites;
}

/** A VIP belongs to the smallest subnet around it; a look-up a length, however many subnets there are. */
function smallestAround(prefixes: ReadonlySet<IpPrefix> | undefined, address: IpAddress): IpPrefix | null {
  if (prefixes === undefined) return null;
  for (let length = addressBits(addressFamily(address)) - 1; length >= 0; length--) {
    const prefix = prefixAround(address, length);
    if (prefixes.has(prefix)) return prefix;
  }
  return null;
}

function byName(holders: readonly Holder[]): readonly Holder[] {
  return [...holders].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The first holder's: all of them have reasons, and one is enough to understand it. */
function reasonsOf(topology: Topology, { address, holders }: VirtualAddress): string[] {
  for (const { rack } of holders) {
    const facts = topology.racks.get(rack);
    const verdict = facts === undefined ? undefined : mergeByAddress(rackVerdicts(topology, facts)).get(address);
    if (verdict !== undefined) return [...verdict.reasons];
  }
  return holders.length === 0 ? ["no rack has it now"] : [];
}

function lastMove(topology: Topology, { address, moves, site }: VirtualAddress): VipMoveView | null {
  const move = moves.at(-1);
  if (move === undefined) return null;
  return { site, address, from: nameOf(topology, move.from), to: nameOf(topology, move.to), at: isoTime(move.at) };
}
