import type { IpAddress } from "../address/ip.js";
import { prefixContains, prefixFamily } from "../address/prefix.js";
import type { DhcpSettings, FailoverWish, SubnetDhcp } from "../desired/dhcp-settings.js";
import { adoptBoot } from "./adopt-boot.js";
import { adoptOptions, routersOf, searchOf } from "./adopt-options.js";
import type { BootReader } from "./boot-effects.js";
import { chooseWindow } from "./choose-window.js";
import { keyword } from "./conf-tree.js";
import type { Definitions } from "./definitions.js";
import { peerName, type FoundSubnet } from "./find-subnet.js";
import type { Findings } from "./findings.js";
import type { AdoptedSubnet } from "./plan.js";
import { SettingReader } from "./setting-reader.js";
import { findSetting } from "./settings.js";

/** dhcpd's own lease times where a file names none (dhcpd.conf(5)). */
const LEASE_TIME = 43_200;
const MAX_LEASE_TIME = 86_400;
/** What Berth sets where nobody says otherwise, or the usual lease if that is shorter. */
const MIN_LEASE_TIME = 300;
const LEASE_TIME_MIN = 10;
const LEASE_TIME_MAX = 2 ** 31 - 1;

/** What the whole file has to say to each of its subnets. */
export interface SubnetContext {
  /** Addresses of the hosts of the whole file. */
  readonly statics: readonly IpAddress[];
  readonly definitions: Definitions;
  readonly boot: BootReader;
  readonly peers: ReadonlyMap<string, FailoverWish>;
  readonly findings: Findings;
}

export function adoptSubnet(found: FoundSubnet, context: SubnetContext): AdoptedSubnet {
  const { node, prefix } = found;
  const { findings, statics } = context;
  const reader = new SettingReader(node, findings);
  const inside = statics.filter((address) => prefixContains(prefix, address));
  const { leftOut, reserved, window } = chooseWindow(rangesForStrangers(found, findings), inside);
  for (const { first, last } of leftOut)
    findings.add(node, `one window only, and none around a static address: ${first}-${last} is left out`);
  const domain = domainOf(found, reader);
  const { leaseTime, maxLeaseTime, minLeaseTime } = leaseTimesOf(reader);
  const v6 = prefixFamily(prefix) === 6;
  const dhcp: SubnetDhcp = {
    ...(v6 ? searchOf("option dhcp6.domain-search", domain, reader) : settings4(found, { context, domain, reader })),
    ...minLeaseTime,
    ...(window === null ? {} : failoverOf(found, context)),
  };
  return {
    at: node.at,
    prefix,
    mode: window === null ? "static" : "window",
    domain,
    gateway: v6 ? null : (routersOf(prefix, reader)[0] ?? null),
    window,
    reserved: [...reserved],
    enlistment: null,
    dns: orRacks(v6 ? reader.addresses("option dhcp6.name-servers", 6) : reader.addresses("option domain-name-servers", 4)),
    ntp: orRacks(v6 ? reader.addresses("option dhcp6.sntp-servers", 6) : reader.addresses("option ntp-servers", 4)),
    leaseTime,
    maxLeaseTime,
    dhcp: Object.keys(dhcp).length === 0 ? null : dhcp,
  };
}

/** Where a file names no servers, Berth names the racks that answer. */
function orRacks(servers: IpAddress[]): IpAddress[] | null {
  return servers.length === 0 ? null : servers;
}

function settings4(
  { node, prefix }: FoundSubnet,
  {
    context,
    domain,
    reader,
  }: { readonly context: SubnetContext; readonly domain: string | null; readonly reader: SettingReader },
): DhcpSettings {
  const { boot, definitions, findings } = context;
  return { ...adoptOptions(prefix, reader, { domain, definitions }), ...adoptBoot(boot.effects(node), findings) };
}

/** Nothing where nobody is answered but who is known. */
function rangesForStrangers({ node, ranges }: FoundSubnet, findings: Findings): FoundSubnet["ranges"] {
  const permit = findSetting(node, "permit unknown-clients");
  if (permit === null || keyword(permit.words[0]) === "allow") return ranges;
  if (ranges.length > 0)
    findings.add(permit, "Berth's windows are for unknown clients, so the ranges that it reaches are left out");
  return [];
}

/** For IPv6, files name the domain in the search list alone. */
export function domainOf({ prefix }: Pick<FoundSubnet, "prefix">, reader: SettingReader): string | null {
  if (prefixFamily(prefix) === 6 && !reader.has("option domain-name"))
    return reader.domains("option dhcp6.domain-search")?.[0] ?? null;
  const names = reader.domains("option domain-name");
  if (names !== null && names.length > 1) reader.refuse("option domain-name", "not one domain name");
  return names?.[0] ?? null;
}

function leaseTimesOf(reader: SettingReader): {
  readonly leaseTime: number;
  readonly maxLeaseTime: number;
  readonly minLeaseTime: Pick<DhcpSettings, "minLeaseTime">;
} {
  const seconds = (name: string): number | null => reader.integer(name, LEASE_TIME_MIN, LEASE_TIME_MAX);
  const leaseTime = seconds("default-lease-time") ?? LEASE_TIME;
  const max = seconds("max-lease-time") ?? MAX_LEASE_TIME;
  if (max < leaseTime) reader.refuse("max-lease-time", `shorter than the usual lease, so Berth takes ${leaseTime} s`);
  const min = seconds("min-lease-time");
  if (min !== null && min > leaseTime) reader.refuse("min-lease-time", "longer than the usual lease");
  const isOwn = min === null || min > leaseTime || min === Math.min(leaseTime, MIN_LEASE_TIME);
  return { leaseTime, maxLeaseTime: Math.max(leaseTime, max), minLeaseTime: isOwn ? {} : { minLeaseTime: min } };
}

function failoverOf({ peer }: FoundSubnet, { findings, peers }: SubnetContext): Pick<SubnetDhcp, "failover"> {
  const name = peerName(peer);
  const wish = name === null ? undefined : peers.get(name);
  if (wish !== undefined) return { failover: wish };
  if (peer !== null) findings.add(peer, "no such failover peer in the file");
  return {};
}
