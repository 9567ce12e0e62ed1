import type { DesiredSubnet } from "../desired/schema.js";
import type { RackLink } from "./rack-links.js";

/** Interfaces and subnets that are on one wire: the same interface, or two interfaces in one subnet. */
export interface Wire {
  /** The first interface's name. */
  readonly name: string;
  /** Sorted by interface, then as the subnets are given. */
  readonly links: readonly RackLink[];
  /** In the order given; each at most once in all wires. */
  readonly subnets: readonly DesiredSubnet[];
}

/** Groups the subnets that have a link by wire; sorted by name. Links to unknown subnets are ignored. */
export function groupIntoWires(subnets: readonly DesiredSubnet[], links: readonly RackLink[]): Wire[] {
  const byId = new Map(subnets.map((subnet, place) => [subnet.id, place]));
  const known = links.filter((link) => byId.has(link.subnetId));
  const groups = new DisjointNames();
  for (const link of known) groups.join(`interface ${link.name}`, `subnet ${link.subnetId}`);
  const wires = new Map<string, RackLink[]>();
  for (const link of known) {
    const root = groups.root(`interface ${link.name}`);
    const wire = wires.get(root);
    if (wire === undefined) wires.set(root, [link]);
    else wire.push(link);
  }
  const place = (link: RackLink): number => byId.get(link.subnetId) ?? 0;
  return [...wires.values()]
    .map((group) => group.sort((a, b) => compareText(a.name, b.name) || place(a) - place(b) || compareText(a.address, b.address)))
    .map((group) => ({ name: group[0]?.name ?? "", links: group, subnets: subnetsOf(group, subnets) }))
    .sort((a, b) => compareText(a.name, b.name));
}

function subnetsOf(links: readonly RackLink[], subnets: readonly DesiredSubnet[]): DesiredSubnet[] {
  const ids = new Set(links.map((link) => link.subnetId));
  return subnets.filter((subnet) => ids.has(subnet.id));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Union-find over names. */
class DisjointNames {
  private readonly parents = new Map<string, string>();

  root(name: string): string {
    let at = name;
    for (let up = this.parents.get(at); up !== undefined && up !== at; up = this.parents.get(at)) at = up;
    return at;
  }

  join(a: string, b: string): void {
    const root = this.root(a);
    this.parents.set(root, root);
    this.parents.set(this.root(b), root);
  }
}
