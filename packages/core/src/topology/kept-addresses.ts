import type { IpAddress } from "../address/ip.js";
import type { ObservedHolder } from "../ipam/observed.js";
import { nameOf } from "./fleet-verdict.js";
import { currentHolders, isVirtual } from "./holders.js";
import { addressKey, type AddressFacts, type Topology } from "./topology.js";

/** A virtual address may be down with its whole cluster for a long repair; nobody else is given it meanwhile. */
const VIRTUAL_KEPT_MS = 30 * 86_400_000;

/** An address that nobody may be given because a rack has it, or had it and it may be on its way to another. */
export interface KeptAddress {
  readonly address: IpAddress;
  /** When it is free again if nobody takes it, in milliseconds since 1970; null while a rack has it. */
  readonly until: number | null;
}

/**
 * Addresses of racks of a site that no pool may hold. One that left a rack is kept while it may turn up on another (that is what a VIP does), so
 * that neither a gap nor the order of two racks' reports changes what is served: the window for a move, thirty days if it is known for virtual.
 */
export function keptAddresses(topology: Topology, site: string): readonly KeptAddress[] {
  let sites = bySite.get(topology);
  if (sites === undefined) {
    sites = keptBySite(topology);
    bySite.set(topology, sites);
  }
  return sites.get(site) ?? [...topology.knowledge.vips].map((address) => ({ address, until: null }));
}

/** A plan asks the same topology for many racks in a row; it never changes, so neither does this. */
const bySite = new WeakMap<Topology, ReadonlyMap<string, readonly KeptAddress[]>>();

function keptBySite(topology: Topology): ReadonlyMap<string, readonly KeptAddress[]> {
  const sites = new Map<string, KeptAddress[]>();
  for (const facts of topology.addresses.values()) {
    const until = freeAt(topology, facts);
    if (until !== null && until <= topology.at) continue;
    const kept = sites.get(facts.site) ?? [];
    sites.set(facts.site, kept);
    kept.push({ address: facts.address, until });
  }
  for (const kept of sites.values()) for (const address of topology.knowledge.vips) kept.push({ address, until: null });
  return sites;
}

/** When the address is nobody's any more; null while a rack has it. */
function freeAt({ times }: Topology, facts: AddressFacts): number | null {
  if (facts.holders.length > 0) return null;
  const leftAt = facts.departed?.at ?? facts.moves.at(-1)?.at ?? 0;
  return leftAt + (wasVirtual(facts) ? VIRTUAL_KEPT_MS : times.moveWindowMs);
}

/** Whether an address counts as virtual anywhere in the site, now or when it was last seen. */
export function isVirtualAddress(topology: Topology, facts: AddressFacts): boolean {
  return wasVirtual(facts) || currentHolders(topology, facts).some((entry) => isVirtual(topology, entry));
}

function wasVirtual({ departed, moves, proof }: AddressFacts): boolean {
  return proof !== null || moves.length > 0 || departed?.virtual === true;
}

/** Why nobody may be given this address although no rack has it now; null when nothing is against it. */
export function keptHolder(topology: Topology, site: string, address: IpAddress): ObservedHolder | null {
  if (topology.knowledge.vips.has(address)) {
    return {
      code: "held-by-rack",
      text: "it is a virtual address by addresses.vips of the coordinator's configuration",
      until: null,
    };
  }
  const facts = topology.addresses.get(addressKey(site, address));
  if (facts === undefined) return null;
  const until = freeAt(topology, facts);
  if (until !== null && until <= topology.at) return null;
  const [holder] = facts.holders;
  const rack = nameOf(topology, holder ?? facts.departed?.rack ?? "");
  const text = holder !== undefined ? `rack ${rack} has it` : `rack ${rack} had it a while ago and another may take it over`;
  return { code: "held-by-rack", text, until };
}

/** The same in any site: for a host that is in none. Costs a look at every address. */
export function isVirtualAnywhere(topology: Topology, address: IpAddress): boolean {
  for (const facts of topology.addresses.values())
    if (facts.address === address && isVirtualAddress(topology, facts)) return true;
  return topology.knowledge.vips.has(address) || topology.knowledge.ledgerVips.has(address);
}
