import { composeZones, type ComposedZones, type ZoneSources } from "../dns/compose.js";

interface Composed {
  readonly site: string;
  readonly parts: readonly (readonly unknown[])[];
  readonly servers: string;
  readonly zones: ComposedZones;
}

/** Composes each site's zones anew only when something of them was changed: equal parts, by identity, give the very zones of the last time. */
export class ZoneComposer {
  private readonly last = new Map<string, Composed>();

  compose(
    site: string,
    sources: Omit<ZoneSources, "allocations"> & { readonly named: readonly ZoneSources["allocations"][] },
  ): ComposedZones {
    const { named, records = [], servers, subnets } = sources;
    const parts = [subnets, records, ...named];
    const known = this.last.get(site);
    const serversText = JSON.stringify(servers);
    if (known?.servers === serversText && sameParts(known.parts, parts)) return known.zones;
    const zones = composeZones({ subnets, records, servers, allocations: named.flat() });
    this.last.set(site, { site, parts, servers: serversText, zones });
    return zones;
  }
}

function sameParts(a: readonly (readonly unknown[])[], b: readonly (readonly unknown[])[]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index] || sameItems(part, b[index] ?? []));
}

/** Lists of subnets are made anew for each plan; names and records are not. Long ones are told apart by the list alone. */
function sameItems(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.length <= ITEMS_MAX && a.every((item, index) => item === b[index]);
}

const ITEMS_MAX = 4096;
