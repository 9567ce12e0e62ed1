import { addressBits, addressFamily, type IpAddress } from "../address/ip.js";
import { prefixAround, prefixFamily, type IpPrefix } from "../address/prefix.js";
import type { DesiredRecord, DesiredZone } from "../desired/schema.js";
import type { Allocation, NameRecord, Subnet } from "../ipam/model.js";
import { checkChosenName, checkLabel, foldName } from "../names/host-name.js";
import { premadeLabel } from "../names/premade.js";
import type { Problem } from "../problem.js";
import { hasPremadeNames, PREMADE_ADDRESSES_MAX } from "./premade-names.js";
import { reverseName, reverseZoneOf, reverseZonesFor } from "./reverse.js";

/** A rack whose named serves the zones. */
export interface ZoneServer {
  /** The rack's name in the region. */
  readonly name: string;
  /** Its real addresses; never a VIP. */
  readonly addresses: readonly IpAddress[];
}

export interface ZoneSources {
  /** The subnets of one site: equal prefixes of two sites would be one zone. */
  readonly subnets: readonly Pick<Subnet, "id" | "prefix" | "domain">[];
  readonly allocations: readonly Pick<Allocation, "subnetId" | "address" | "name">[];
  /** Operators' own records; those outside the domains of these subnets belong to another site. Left out, there are none. */
  readonly records?: readonly Pick<NameRecord, "id" | "name" | "type" | "value">[];
  /** Racks of the site; the first of their names is the primary in every SOA. */
  readonly servers: readonly ZoneServer[];
  /** Time to live of the records in seconds. */
  readonly ttl?: number;
}

/** A zone whose serial the coordinator still has to decide from whether its content changed. */
export type UnnumberedZone = Omit<DesiredZone, "serial">;

export interface ComposedZones {
  /** Sorted by origin; members in stable order. */
  readonly zones: readonly UnnumberedZone[];
  /** Names that no zone can hold. */
  readonly problems: readonly Problem[];
}

/**
 * Name servers of a zone at most. All racks of the site answer for it; a list of all of them would grow with each rack in each zone of each rack, and an answer
 * with more no longer fits in 512 octets (RFC 1035 §4.2.1; RFC 2182 §5 finds seven enough).
 */
export const NAME_SERVERS_MAX = 13;

/** Short, because an address changes its name when a machine is enrolled; every rack answers from its own copy anyway. */
const ZONE_TTL = 300;

/**
 * The zones of a site as data: a forward zone for each domain and the reverse zones of each prefix. The names of all addresses are there
 * before any machine is, so a machine that keeps its pre-made name changes no zone; a chosen name adds its address record and its PTR.
 * Without a rack to serve them there are no zones. Pure: the same input in any order gives the same output.
 */
export function composeZones(sources: ZoneSources): ComposedZones {
  const servers = sources.servers.filter(({ addresses }) => addresses.length > 0).sort((a, b) => compareText(a.name, b.name));
  if (servers.length === 0) return { zones: [], problems: [] };
  const subnets = sources.subnets.toSorted((a, b) => compareText(a.prefix, b.prefix) || a.id - b.id);
  const draft = new ZoneDraft(subnets, servers, sources.ttl ?? ZONE_TTL);
  draft.addServers();
  for (const allocation of sources.allocations) draft.addAllocation(allocation);
  for (const record of sources.records ?? []) draft.addOperatorRecord(record);
  return draft.finish();
}

/** The first label of a rack's name server names: `rack-NAME`, with what a label may not hold turned into hyphens. */
export function rackLabel(rackName: string): string {
  const label = foldName(rackName)
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return `rack-${label}`.slice(0, 63).replace(/-+$/, "");
}

type PlannedSubnet = ZoneSources["subnets"][number];

interface OpenZone {
  readonly kind: "forward" | "reverse";
  /** Whose name servers' names it uses. */
  readonly domain: string;
  readonly premade: { prefix: IpPrefix; domain: string }[];
  readonly records: Map<string, DesiredRecord>;
}

/** Collects records by zone; each record once. */
class ZoneDraft {
  private readonly zones = new Map<string, OpenZone>();
  private readonly byId: ReadonlyMap<number, PlannedSubnet>;
  private readonly problems: Problem[] = [];
  private readonly domains: ReadonlySet<string>;
  private readonly byPrefix: ReadonlyMap<IpPrefix, PlannedSubnet>;
  private readonly labels: ReadonlySet<string>;
  private readonly servers: readonly ZoneServer[];
  /** By domain, those with an address in one of its subnets. */
  private readonly local: ReadonlyMap<string, ReadonlySet<ZoneServer>>;
  private readonly ttl: number;

  constructor(subnets: readonly PlannedSubnet[], servers: readonly ZoneServer[], ttl: number) {
    this.servers = servers;
    this.ttl = ttl;
    this.byId = new Map(subnets.map((subnet) => [subnet.id, subnet]));
    this.domains = new Set(subnets.map(({ domain }) => domain));
    this.byPrefix = new Map(subnets.map((subnet) => [subnet.prefix, subnet]));
    this.labels = new Set(servers.map(({ name }) => rackLabel(name)));
    this.local = this.serversByDomain();
    for (const subnet of subnets) this.addSubnet(subnet);
  }

  private serversByDomain(): ReadonlyMap<string, ReadonlySet<ZoneServer>> {
    const local = new Map([...this.domains].map((domain) => [domain, new Set<ZoneServer>()]));
    for (const server of this.servers)
      for (const address of server.addresses) local.get(this.subnetAround(address)?.domain ?? "")?.add(server);
    return local;
  }

  /** The name servers of a domain's zones, by name: first those that are in it, then others of the site. */
  private listed(domain: string): readonly ZoneServer[] {
    if (this.servers.length <= NAME_SERVERS_MAX) return this.servers;
    const local = this.local.get(domain) ?? new Set();
    const all = [...local, ...this.servers.filter((server) => !local.has(server))];
    return all.slice(0, NAME_SERVERS_MAX).sort((a, b) => compareText(a.name, b.name));
  }

  private addSubnet({ prefix, domain }: PlannedSubnet): void {
    const premade = hasPremadeNames(prefix) ? [{ prefix, domain }] : [];
    // An IPv6 network never has all its names written out, so only for IPv4 is it news.
    if (premade.length === 0 && prefixFamily(prefix) === 4) {
      this.problems.push({
        code: "premade-too-large",
        at: `subnet ${prefix}`,
        message: `it has more than ${PREMADE_ADDRESSES_MAX} addresses, so only its allocations have names`,
        remedy: "declare smaller subnets to have a name for every address",
      });
    }
    this.open(domain, "forward", domain).premade.push(...premade);
    for (const origin of reverseZonesFor(prefix)) this.open(origin, "reverse", domain).premade.push(...premade);
  }

  private open(origin: string, kind: OpenZone["kind"], domain: string): OpenZone {
    const found = this.zones.get(origin);
    if (found !== undefined) return found;
    const zone: OpenZone = { kind, domain, premade: [], records: new Map() };
    this.zones.set(origin, zone);
    return zone;
  }

  /**
   * A rack is `rack-NAME` in every domain that it is in or a name server of, at all its real addresses; the PTR of each names it in the domain of that
   * subnet.
   */
  addServers(): void {
    for (const domain of this.domains)
      for (const { name, addresses } of new Set([...this.listed(domain), ...(this.local.get(domain) ?? [])]))
        for (const address of addresses) this.addRecord(domain, addressRecord(rackLabel(name), address));
    for (const { name, addresses } of this.servers)
      for (const address of addresses) {
        const subnet = this.subnetAround(address);
        if (subnet !== undefined) this.addPointer(address, `${rackLabel(name)}.${subnet.domain}`);
      }
  }

  /** Kept for racks in every domain: any of them may become one of its name servers. */
  private isServerName(name: string): boolean {
    const dot = name.indexOf(".");
    return this.labels.has(name.slice(0, dot)) && this.domains.has(name.slice(dot + 1));
  }

  addAllocation({ subnetId, address, name }: ZoneSources["allocations"][number]): void {
    const subnet = this.byId.get(subnetId);
    if (subnet === undefined) return;
    if (hasPremadeNames(subnet.prefix) && name === `${premadeLabel(address)}.${subnet.domain}`) return;
    const wrong = checkChosenName(name, address, `address ${address}`);
    if (wrong.length > 0) {
      // One name that slipped through must not keep named from loading all the others: the address keeps its pre-made name.
      this.problems.push(...wrong);
      return;
    }
    const origin = this.forwardZoneOf(name);
    const report = (code: string, message: string, remedy: string): void => {
      this.problems.push({ code, at: `address ${address}`, message, remedy });
    };
    if (origin === null) {
      report(
        "name-outside-zones",
        `'${name}' is in no domain of a subnet: only its PTR is served`,
        "choose a name in the domain of a subnet",
      );
    } else if (this.isServerName(name)) {
      report("name-of-rack", `'${name}' is the name of a rack's name server: only its PTR is served`, "choose another name");
    } else {
      this.addRecord(origin, addressRecord(origin === name ? "@" : name.slice(0, -origin.length - 1), address));
    }
    this.addPointer(address, name);
  }

  /** A rack that joined since may have the name now: its own records stay, because every resolver depends on them. */
  addOperatorRecord({ id, name, type, value }: NonNullable<ZoneSources["records"]>[number]): void {
    const origin = this.forwardZoneOf(name);
    if (origin === null) return;
    if (type !== "TXT" && this.isServerName(name)) {
      const message = `'${name}' is the name of a rack's name server: the ${type} record is not served`;
      this.problems.push({ code: "name-of-rack", at: `record ${id}`, message, remedy: "remove it and choose another name" });
      return;
    }
    this.addRecord(origin, { owner: origin === name ? "@" : name.slice(0, -origin.length - 1), type, value });
  }

  private addPointer(address: IpAddress, name: string): void {
    const origin = reverseZoneOf(address, this.zones);
    if (origin === null) return;
    const owner = reverseName(address).slice(0, -origin.length - 1);
    this.addRecord(origin, { owner, type: "PTR", value: name });
  }

  private addRecord(origin: string, { owner, type, value }: Pick<DesiredRecord, "owner" | "type" | "value">): void {
    this.zones.get(origin)?.records.set(`${owner} ${type} ${value}`, { owner, type, ttl: this.ttl, value });
  }

  /** The narrowest subnet around an address. */
  private subnetAround(address: IpAddress): PlannedSubnet | undefined {
    for (let length = addressBits(addressFamily(address)); length >= 0; length--) {
      const subnet = this.byPrefix.get(prefixAround(address, length));
      if (subnet !== undefined) return subnet;
    }
    return undefined;
  }

  /** The closest domain above a name, label by label. */
  private forwardZoneOf(name: string): string | null {
    for (let start = 0; ; ) {
      const origin = name.slice(start);
      if (this.zones.get(origin)?.kind === "forward") return origin;
      const dot = name.indexOf(".", start);
      if (dot < 0) return null;
      start = dot + 1;
    }
  }

  finish(): ComposedZones {
    const nameServers = new Map(
      [...this.domains].map((domain) => {
        const names = this.listed(domain).map(({ name }) => `${rackLabel(name)}.${domain}`);
        return [domain, [...new Set(names)]];
      }),
    );
    const unusable = [...this.labels].flatMap((label) => checkLabel(label, `rack ${label}`));
    const zones = [...this.zones]
      .sort(([a], [b]) => compareText(a, b))
      .map(([origin, zone]) => ({
        origin,
        kind: zone.kind,
        nameServers: nameServers.get(zone.domain) ?? [],
        mailbox: `hostmaster.${zone.domain}`,
        ttl: this.ttl,
        premade: zone.premade,
        records: [...zone.records.values()].sort(compareRecords),
      }));
    return { zones, problems: [...unusable, ...this.problems.sort((a, b) => compareText(a.at, b.at))] };
  }
}

function addressRecord(owner: string, address: IpAddress): Pick<DesiredRecord, "owner" | "type" | "value"> {
  return { owner, type: addressFamily(address) === 4 ? "A" : "AAAA", value: address };
}

function compareRecords(a: DesiredRecord, b: DesiredRecord): number {
  return compareText(a.owner, b.owner) || compareText(a.type, b.type) || compareText(a.value, b.value);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
