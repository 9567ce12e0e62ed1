import { compareAddresses, type IpAddress } from "../address/ip.js";
import { prefixContains, type IpPrefix } from "../address/prefix.js";
import type { DesiredState, DesiredSubnet } from "../desired/schema.js";
import type { UnnumberedZone } from "../dns/compose.js";
import type { Subnet } from "../ipam/model.js";
import type { Problem } from "../problem.js";
import type { RackView } from "../topology/rack-view.js";
import type { AddressFacts } from "../topology/topology.js";
import { assignSlices, type Slices } from "./assign-slices.js";
import { groupBy } from "./ledger-facts.js";
import { retiredLeases } from "./retired-leases.js";
import { keptByPairs, pairSubnets, type Pairing, type Pairs } from "./pair-racks.js";
import { planSubnet } from "./plan-subnet.js";
import { serverAddresses, serversOf, sitesOf, type PlanSources, type SiteView } from "./site-view.js";
import { ZoneComposer } from "./zone-composer.js";

/** A desired state without its number and its zones, which all racks of the site share. */
export type RackContent = Omit<DesiredState, "generation" | "zones">;

export interface SitePlan {
  readonly site: string;
  readonly zones: readonly UnnumberedZone[];
  readonly racks: readonly RackContent[];
}

export interface RegionPlan {
  readonly sites: readonly SitePlan[];
  /** What keeps the ledger from being served as declared, in a stable order. */
  readonly problems: readonly Problem[];
  /** When the plan changes although nothing else does, in milliseconds since 1970; null for never. */
  readonly changesAt: number | null;
}

/**
 * What every rack of the region must run. `previous` are the slices the racks have now, which they keep,
 * `previousPairs` the racks that share windows now, which go on sharing them. Racks that never reported an interface
 * get no plan: nothing is known of what they can serve, and what they run must not be taken from them.
 */
export function planRacks(sources: PlanSources, previous: Slices, previousPairs: Pairs = new Map()): RegionPlan {
  const problems: Problem[] = [];
  const changesAt: number[] = [];
  const composer = sources.composer ?? new ZoneComposer();
  const views = sitesOf(sources);
  const proved = [...(views[0]?.topology.addresses.values() ?? [])].filter(({ proof }) => proof !== null);
  const moved = groupBy(proved, ({ site }) => [site]);
  const sites = views.map((view): SitePlan => {
    const servers = view.racks.map((rack) => ({ name: rack.name, addresses: serverAddresses(view, rack) }));
    const isServed = servers.some(({ addresses }) => addresses.length > 0);
    const named = isServed ? view.subnets.map((subnet) => view.facts.holdsOf(subnet).named) : [];
    const zones = composer.compose(view.site, { subnets: view.subnets, named, records: sources.records ?? [], servers });
    const slices = slicesOf(view, previous);
    const unsure = [...view.servers.values()].flatMap((lists) => lists.problems);
    problems.push(...zones.problems, ...unsure, ...checkServed(view, slices));
    const vips = knownVips(view, moved);
    const pairings = pairSubnets(view, { previous: previousPairs, now: sources.now });
    for (const { id } of view.subnets) problems.push(...(pairings.get(id)?.problems ?? []));
    const kept = keptByPairs(view, pairings);
    const prefixes = view.subnets.map(({ prefix }) => prefix).sort();
    const context = { view, slices, sources, changesAt, prefixes, vips, pairings, kept };
    const racks = view.racks.map((rack) => planRack(rack, context));
    const { mailbox } = sources.policy;
    return { site: view.site, zones: mailbox === null ? zones.zones : zones.zones.map((zone) => ({ ...zone, mailbox })), racks };
  });
  return { sites, problems, changesAt: changesAt.length === 0 ? null : changesAt.reduce((a, b) => Math.min(a, b)) };
}

/** The slices that these desired states carry. */
export function slicesIn(states: Iterable<Pick<DesiredState, "rack" | "subnets">>): Slices {
  const slices = new Map<string, Map<number, IpPrefix>>();
  for (const { rack, subnets } of states) {
    const ofRack = new Map<number, IpPrefix>();
    for (const { id, enlistment } of subnets) if (enlistment !== null) ofRack.set(id, enlistment.slice);
    slices.set(rack, ofRack);
  }
  return slices;
}

function slicesOf(view: SiteView, previous: Slices): Slices {
  const links = view.racks.flatMap((rack) => linkLocal(view, rack).map((subnet) => ({ rackId: rack.id, subnet })));
  return assignSlices(links, previous);
}

function linkLocal(view: SiteView, rack: RackView): readonly Subnet[] {
  return (view.served.get(rack.id) ?? []).filter(({ mode }) => mode === "link-local");
}

interface Context {
  readonly view: SiteView;
  readonly slices: Slices;
  readonly sources: PlanSources;
  readonly changesAt: number[];
  /** Of the site's subnets, in order. */
  readonly prefixes: readonly IpPrefix[];
  /** Of the site, ascending. */
  readonly vips: readonly IpAddress[];
  /** By subnet. */
  readonly pairings: ReadonlyMap<number, Pairing>;
  /** By rack: what it shares and has no address in. */
  readonly kept: ReadonlyMap<string, readonly Subnet[]>;
}

/**
 * What a rack cannot tell by its own looks. Holding and leaving a VIP changes nothing here: an address that was once proved to move stays one, so
 * no later failover changes a desired state.
 */
function knownVips({ site, topology }: SiteView, moved: ReadonlyMap<string, readonly AddressFacts[]>): readonly IpAddress[] {
  const here = (moved.get(site) ?? []).map(({ address }) => address);
  return [...new Set([...here, ...topology.knowledge.vips])].sort(compareAddresses).slice(0, VIPS_MAX);
}

const VIPS_MAX = 4096;

function planRack(rack: RackView, { view, slices, sources, changesAt, prefixes, vips, pairings, kept }: Context): RackContent {
  const subnets: DesiredSubnet[] = [];
  for (const subnet of [...(view.served.get(rack.id) ?? []), ...(kept.get(rack.id) ?? [])]) {
    const slice = slices.get(rack.id)?.get(subnet.id) ?? null;
    const pair = pairings.get(subnet.id)?.pair ?? null;
    const planned = planSubnet(subnet, { view, rack, slice, pair, now: sources.now });
    subnets.push(planned.subnet);
    for (const at of planned.changesAt) changesAt.push(at);
  }
  const own = subnets.flatMap(({ enlistment }) => (enlistment === null ? [] : [enlistment.slice]));
  const vipsHere = vips.filter((address) => subnets.some(({ prefix }) => prefixContains(prefix, address)));
  const retired = retiredLeases(rack, { view, now: sources.now });
  return {
    format: 1,
    rack: rack.id,
    subnets,
    queryFrom: own.length === 0 ? [...prefixes] : [...prefixes, ...own].sort(),
    forwarders: [...sources.policy.forwarders],
    ...(vipsHere.length === 0 ? {} : { vips: vipsHere }),
    ...(retired.length === 0 ? {} : { retired }),
  };
}

function checkServed(view: SiteView, slices: Slices): Problem[] {
  const unserved = view.subnets
    .filter((subnet) => subnet.mode !== "off" && subnet.mode !== "observe" && serversOf(view, subnet).length === 0)
    .map(({ id, prefix, site }): Problem => {
      const message = `no rack of site ${site} has a real address in ${prefix}, so nothing serves it`;
      return {
        code: "subnet-unserved",
        at: `subnet ${id}`,
        message,
        remedy:
          "join a rack that is on this network, check its interfaces, or name the rack's address that its relays forward to: --relayed-to",
      };
    });
  const sliceless = view.racks.flatMap((rack) =>
    linkLocal(view, rack)
      .filter(({ id }) => slices.get(rack.id)?.has(id) !== true)
      .map(({ id, enlistment }): Problem => {
        const message = `rack ${rack.name} has no slice of ${enlistment?.pool ?? "the pool"} left for subnet ${id}: strangers get no address there`;
        return { code: "enlistment-slices-exhausted", at: `subnet ${id}`, message, remedy: "use a larger pool or longer slices" };
      }),
  );
  return [...unserved, ...sliceless];
}
