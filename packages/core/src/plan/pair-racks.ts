import type { IpAddress } from "../address/ip.js";
import { prefixFamily } from "../address/prefix.js";
import type { FailoverWish } from "../desired/dhcp-settings.js";
import type { DesiredState } from "../desired/schema.js";
import type { Subnet } from "../ipam/model.js";
import type { Problem } from "../problem.js";
import type { RackView } from "../topology/rack-view.js";
import { addressFor, serversOf, type SiteView } from "./site-view.js";

/** Which racks share a window, by id. */
export interface Pair {
  readonly primary: string;
  readonly secondary: string;
  /** By rack. */
  readonly addresses: ReadonlyMap<string, IpAddress>;
}

/** By subnet. */
export type Pairs = ReadonlyMap<number, Pair>;

/** Both must have spoken within this time before they are made a pair: one that is dead would keep the other from ever serving. */
const FRESH_MS = 600_000;

/** The pairs that these desired states carry. */
export function pairsIn(states: Iterable<Pick<DesiredState, "rack" | "subnets">>): Pairs {
  const halves = new Map<
    number,
    Partial<Record<"primary" | "secondary", { readonly rack: string; readonly address: IpAddress }>>
  >();
  for (const { rack, subnets } of states)
    for (const { id, failover } of subnets)
      if (failover !== undefined) halves.set(id, { ...halves.get(id), [failover.role]: { rack, address: failover.address } });
  const pairs = new Map<number, Pair>();
  for (const [id, { primary, secondary }] of halves) {
    if (primary === undefined || secondary === undefined) continue;
    const addresses = new Map([primary, secondary].map(({ address, rack }) => [rack, address]));
    pairs.set(id, { primary: primary.rack, secondary: secondary.rack, addresses });
  }
  return pairs;
}

export interface PairedRacks {
  readonly primary: RackView;
  readonly secondary: RackView;
  readonly addresses: ReadonlyMap<string, IpAddress>;
  readonly wish: FailoverWish;
}

export interface Pairing {
  /** Null: each rack that serves the subnet has its own part of the window. */
  readonly pair: PairedRacks | null;
  readonly problems: readonly Problem[];
}

/**
 * The pairs of all subnets, by subnet. Two racks are a pair only once between the same two addresses: dhcpd tells its partners apart by address,
 * whatever the port, and of two peers at one address it takes neither in peace. Pairs that exist come first.
 */
export function pairSubnets(
  view: SiteView,
  { previous, now }: { readonly previous: Pairs; readonly now: number },
): ReadonlyMap<number, Pairing> {
  const pairings = new Map<number, Pairing>();
  const taken = new Map<string, number>();
  for (const subnet of view.subnets.toSorted((a, b) => Number(previous.has(b.id)) - Number(previous.has(a.id)) || a.id - b.id)) {
    const pairing = pairRacks(subnet, { view, previous, now });
    const between = pairing.pair === null ? null : [...pairing.pair.addresses.values()].sort().join(" ");
    const other = between === null ? undefined : taken.get(between);
    if (between !== null && other === undefined) taken.set(between, subnet.id);
    const remedy = "let its relays forward to other addresses of the racks, or do without failover there";
    pairings.set(
      subnet.id,
      other === undefined ? pairing : heldBack(subnet, `subnet ${other} already pairs the racks at these addresses`, remedy),
    );
  }
  return pairings;
}

/**
 * The two racks that share a subnet's window where an operator wished it. A pair that exists stays whatever becomes of one rack, silent or without its
 * interface, because its partner must go on keeping to its share; a new one is made only of racks that speak.
 */
function pairRacks(
  subnet: Subnet,
  { view, previous, now }: { readonly view: SiteView; readonly previous: Pairs; readonly now: number },
): Pairing {
  const wish = subnet.dhcp?.failover;
  // Failover exists for DHCPv4 only, dhcpd.conf(5).
  const isShared = wish !== undefined && subnet.mode === "window" && prefixFamily(subnet.prefix) === 4;
  if (!isShared || subnet.window === null) return { pair: null, problems: [] };
  const serving = serversOf(view, subnet);
  const before = previous.get(subnet.id);
  const known = [before?.primary, before?.secondary].flatMap((id) => view.racks.find((rack) => rack.id === id) ?? []);
  const goesOn =
    before !== undefined && known.length === 2 && (serving.length === 0 || known.some((rack) => serving.includes(rack)));
  const [primary, secondary] = goesOn ? known : serving;
  if (primary === undefined) return { pair: null, problems: [] };
  if (secondary === undefined)
    return heldBack(subnet, `only rack ${primary.name} serves it`, "join a second rack on this network");
  const silent = goesOn ? undefined : [primary, secondary].find((rack) => !isFresh(rack, now));
  if (silent !== undefined)
    return heldBack(subnet, `rack ${silent.name} does not speak`, "start its agent, or remove the rack with `berth rack remove`");
  const addresses = new Map<string, IpAddress>();
  for (const rack of [primary, secondary]) {
    const address = addressFor(view, rack, subnet) ?? (goesOn ? before.addresses.get(rack.id) : undefined);
    if (address === undefined)
      return heldBack(subnet, `rack ${rack.name} has no address of its own there`, "look at its interfaces");
    addresses.set(rack.id, address);
  }
  const away = [primary, secondary].filter((rack) => !serving.includes(rack));
  return { pair: { primary, secondary, addresses, wish }, problems: away.map((rack) => partnerAway(subnet, rack)) };
}

/** What a rack of a pair keeps to although it has no address there now: when that comes back, both go on where they were. */
export function keptByPairs(view: SiteView, pairings: ReadonlyMap<number, Pairing>): ReadonlyMap<string, readonly Subnet[]> {
  const kept = new Map<string, Subnet[]>();
  for (const subnet of view.subnets) {
    const pair = pairings.get(subnet.id)?.pair ?? null;
    if (pair === null) continue;
    for (const { id } of [pair.primary, pair.secondary])
      if (view.served.get(id)?.includes(subnet) !== true) kept.set(id, [...(kept.get(id) ?? []), subnet]);
  }
  return kept;
}

function isFresh({ connected, lastSeenAt }: RackView, now: number): boolean {
  return connected || (lastSeenAt !== null && now - lastSeenAt <= FRESH_MS);
}

function heldBack({ id }: Subnet, why: string, remedy: string): Pairing {
  const message = `failover is held back, because ${why}: until then each rack gives from its own part of the window`;
  return { pair: null, problems: [{ code: "failover-held-back", at: `subnet ${id}`, message, remedy }] };
}

function partnerAway({ id, prefix }: Subnet, { name }: RackView): Problem {
  return {
    code: "failover-partner-away",
    at: `subnet ${id}`,
    message: `rack ${name}, one of the two that share the window, has no address in ${prefix} now: the other gives from its share alone`,
    remedy: "look at its interfaces; if it is gone for good, `berth-agent partner-down` on the other, or `berth rack remove` it",
  };
}
