import { addressFamily, addressValue, parseIpAddress, type IpAddress } from "../address/ip.js";
import {
  netmask,
  parseIpPrefix,
  prefixContains,
  prefixLength,
  prefixRange,
  type IpPrefix,
  type IpRange,
} from "../address/prefix.js";
import { domainNameSchema } from "../desired/schema.js";
import { chooseWindow } from "./choose-window.js";
import { keyword, type ConfNode } from "./conf-tree.js";
import type { Findings } from "./findings.js";
import type { AdoptedSubnet } from "./plan.js";
import { findSetting, settingName, settingValues } from "./settings.js";

/** A subnet block, its prefix, and the dynamic ranges in it and its pools. */
export interface FoundSubnet {
  readonly node: ConfNode;
  readonly prefix: IpPrefix;
  readonly ranges: readonly IpRange[];
}

/** dhcpd's own lease times where a file names none (dhcpd.conf(5)). */
const LEASE_TIME = 43_200;
const MAX_LEASE_TIME = 86_400;
const LEASE_TIME_MIN = 10;
const SERVERS_MAX = 16;

/** Null where it is no subnet that a file can have. */
export function findSubnet(node: ConfNode, findings: Findings): FoundSubnet | null {
  const prefix = prefixOf(node);
  if (prefix === null) {
    findings.add(node, "not a network and a mask");
    return null;
  }
  const ranges: IpRange[] = [];
  for (const child of node.body ?? []) {
    if (keyword(child.words[0]) === "pool" && child.body !== null)
      ranges.push(...rangesOfPool(child, { node, prefix }, findings));
    else if (keyword(child.words[0]) === "range" && child.body === null) ranges.push(...rangeOf(child, prefix, findings));
  }
  return { node, prefix, ranges };
}

function prefixOf({ words }: ConfNode): IpPrefix | null {
  const [network, mask] = [parseIpAddress(words[1]?.text ?? ""), parseIpAddress(words[3]?.text ?? "")];
  if (network === null || mask === null || addressFamily(network) !== 4 || keyword(words[2]) !== "netmask") return null;
  const length = Array.from({ length: 33 }, (_, bits) => bits).find((bits) => netmask(bits) === mask);
  const prefix = length === undefined ? null : parseIpPrefix(`${network}/${length}`);
  return prefix?.ok === true ? prefix.value : null;
}

/** `range [dynamic-bootp] LOW [HIGH]`. */
function rangeOf(node: ConfNode, prefix: IpPrefix, findings: Findings): IpRange[] {
  const words = settingValues(node).filter((word) => word.toLowerCase() !== "dynamic-bootp");
  const [first, last] = [parseIpAddress(words[0] ?? ""), parseIpAddress(words[1] ?? words[0] ?? "")];
  const inside = first !== null && last !== null && prefixContains(prefix, first) && prefixContains(prefix, last);
  if (inside && addressValue(first) <= addressValue(last)) return [{ first, last }];
  findings.add(node, `not a range of ${prefix}`);
  return [];
}

/** Berth gives windows to everybody that it does not know; a pool with other rules is none. */
function rangesOfPool(pool: ConfNode, { node, prefix }: Omit<FoundSubnet, "ranges">, findings: Findings): IpRange[] {
  const ranges: IpRange[] = [];
  const rules: ConfNode[] = [];
  for (const child of pool.body ?? []) {
    const name = settingName(child.words);
    const same = findSetting(node, name);
    if (child.body === null && name === "range") ranges.push(...rangeOf(child, prefix, findings));
    else if (child.body === null && ["allow", "deny"].includes(name)) rules.push(child);
    else if (same === null || settingValues(same).join() !== settingValues(child).join())
      findings.add(child, "settings of a pool of its own");
  }
  const foreign = rules.filter((rule) => !isOwnRule(rule));
  for (const rule of foreign) findings.add(rule, "its pool is for some clients only, so its ranges are left out");
  return foreign.length === 0 ? ranges : [];
}

/** What Berth does anyway: who has a host declaration gets nothing from a pool, and BOOTP clients, which never give back, get nothing at all. */
function isOwnRule(rule: ConfNode): boolean {
  const text = rule.words.map((word) => keyword(word)).join(" ");
  return /^(deny known[- ]clients|allow unknown[- ]clients|deny dynamic bootp clients)$/.test(text);
}

/** `statics`: addresses of the hosts of the whole file. */
export function adoptSubnet(found: FoundSubnet, statics: readonly IpAddress[], findings: Findings): AdoptedSubnet {
  const { node, prefix } = found;
  const inside = statics.filter((address) => prefixContains(prefix, address));
  const { leftOut, reserved, window } = chooseWindow(found.ranges, inside);
  for (const { first, last } of leftOut)
    findings.add(node, `one window only, and none around a static address: ${first}-${last} is left out`);
  const gateway = gatewayOf(found, findings);
  const leaseTime = secondsOf(node, "default-lease-time", findings) ?? LEASE_TIME;
  const maxLeaseTime = secondsOf(node, "max-lease-time", findings) ?? MAX_LEASE_TIME;
  return {
    at: node.at,
    prefix,
    mode: window === null ? "static" : "window",
    domain: domainOf(node, findings),
    gateway,
    window,
    reserved: [...reserved],
    enlistment: null,
    dns: serversOf(node, "option domain-name-servers", findings),
    ntp: serversOf(node, "option ntp-servers", findings),
    leaseTime,
    maxLeaseTime: Math.max(leaseTime, maxLeaseTime),
  };
}

function gatewayOf({ node, prefix }: FoundSubnet, findings: Findings): IpAddress | null {
  const [first] = addressesOf(node, "option routers", findings);
  if (first === undefined || prefixContains(prefix, first)) return first ?? null;
  findings.add(findSetting(node, "option routers") ?? node, `no router inside ${prefix}`);
  return null;
}

function domainOf(node: ConfNode, findings: Findings): string | null {
  const setting = findSetting(node, "option domain-name");
  if (setting === null) return null;
  const domain = domainNameSchema.safeParse((settingValues(setting)[0] ?? "").replace(/\.$/, "").toLowerCase());
  if (domain.success) return domain.data;
  findings.add(setting, "not one domain name");
  return null;
}

function serversOf(node: ConfNode, name: string, findings: Findings): IpAddress[] | null {
  const addresses = addressesOf(node, name, findings);
  return addresses.length === 0 ? null : addresses.slice(0, SERVERS_MAX);
}

function addressesOf(node: ConfNode, name: string, findings: Findings): IpAddress[] {
  const setting = findSetting(node, name);
  if (setting === null) return [];
  const values = settingValues(setting);
  const addresses = values.flatMap((value) => parseIpAddress(value) ?? []);
  if (addresses.length < values.length) findings.add(setting, "a server that is named, not an address");
  return [...new Set(addresses)];
}

function secondsOf(node: ConfNode, name: string, findings: Findings): number | null {
  const setting = findSetting(node, name);
  if (setting === null) return null;
  const seconds = Number(settingValues(setting)[0] ?? "");
  if (Number.isInteger(seconds) && seconds >= LEASE_TIME_MIN && seconds < 2 ** 31) return seconds;
  findings.add(setting, `not between ${LEASE_TIME_MIN} s and 68 years`);
  return null;
}

/** The prefix of a slice of the enlistment pool as Berth itself renders it: its rack reaches machines there by RFC 3927 addresses. */
export function isSlice({ prefix }: FoundSubnet): boolean {
  const { first } = prefixRange(prefix);
  return first.startsWith("169.254.") && prefixLength(prefix) > 16;
}
