import { addressFamily, addressValue, parseIpAddress, type IpAddress } from "../address/ip.js";
import {
  netmask,
  parseIpPrefix,
  prefixContains,
  prefixFamily,
  prefixRange,
  type IpPrefix,
  type IpRange,
} from "../address/prefix.js";
import { keyword, type ConfNode } from "./conf-tree.js";
import type { Findings } from "./findings.js";
import { findSetting, settingName, settingValues } from "./settings.js";

/** A subnet block, its prefix, and the dynamic ranges in it and its pools. */
export interface FoundSubnet {
  readonly node: ConfNode;
  readonly prefix: IpPrefix;
  readonly ranges: readonly IpRange[];
  /** The `failover peer` statement of the pools that give its ranges; null where they are this server's alone. */
  readonly peer: ConfNode | null;
}

/** The ranges of one pool, or of the subnet's own `range` statements. */
interface FoundPool {
  readonly node: ConfNode;
  readonly ranges: readonly IpRange[];
  readonly peer: ConfNode | null;
}

/** Null where it is no subnet that a file can have. */
export function findSubnet(node: ConfNode, findings: Findings): FoundSubnet | null {
  const prefix = keyword(node.words[0]) === "subnet6" ? prefix6Of(node) : prefixOf(node);
  if (prefix === null) {
    findings.add(node, "not a network and a mask");
    return null;
  }
  const pools: FoundPool[] = [];
  for (const child of node.body ?? []) {
    if (isPool(child)) pools.push(readPool(child, { node, prefix }, findings));
    else if (isRange(child)) pools.push({ node: child, ranges: rangeOf(child, prefix, findings), peer: null });
  }
  const giving = pools.filter(({ ranges }) => ranges.length > 0);
  const peer = giving.find((pool) => pool.peer !== null)?.peer ?? null;
  for (const pool of giving)
    if (peerName(pool.peer) !== peerName(peer))
      findings.add(pool.node, "Berth shares the whole window of a subnet with one partner");
  return { node, prefix, ranges: giving.flatMap(({ ranges }) => ranges), peer };
}

export function isPool({ body, words }: ConfNode): boolean {
  return body !== null && ["pool", "pool6"].includes(keyword(words[0]));
}

function isRange({ body, words }: ConfNode): boolean {
  return body === null && ["range", "range6"].includes(keyword(words[0]));
}

/** Of `failover peer "NAME"`. */
export function peerName(node: ConfNode | null): string | null {
  return node?.words[2]?.text ?? null;
}

function prefixOf({ words }: ConfNode): IpPrefix | null {
  const [network, mask] = [parseIpAddress(words[1]?.text ?? ""), parseIpAddress(words[3]?.text ?? "")];
  if (network === null || mask === null || addressFamily(network) !== 4 || keyword(words[2]) !== "netmask") return null;
  const length = Array.from({ length: 33 }, (_, bits) => bits).find((bits) => netmask(bits) === mask);
  const prefix = length === undefined ? null : parseIpPrefix(`${network}/${length}`);
  return prefix?.ok === true ? prefix.value : null;
}

function prefix6Of({ words }: ConfNode): IpPrefix | null {
  const prefix = parseIpPrefix(words[1]?.text ?? "");
  return words.length === 2 && prefix.ok && prefixFamily(prefix.value) === 6 ? prefix.value : null;
}

/** `range [dynamic-bootp] LOW [HIGH]`, `range6 LOW HIGH`, `range6 PREFIX`. */
function rangeOf(node: ConfNode, prefix: IpPrefix, findings: Findings): IpRange[] {
  const words = settingValues(node).filter((word) => word.toLowerCase() !== "dynamic-bootp");
  const whole = words.length === 1 ? parseIpPrefix(words[0] ?? "") : null;
  const [first, last] =
    whole?.ok === true && words[0]?.includes("/") === true
      ? [prefixRange(whole.value).first, prefixRange(whole.value).last]
      : [parseIpAddress(words[0] ?? ""), parseIpAddress(words[1] ?? words[0] ?? "")];
  const inside = words.length <= 2 && isInside(prefix, first) && isInside(prefix, last);
  if (inside && first !== null && last !== null && addressValue(first) <= addressValue(last)) return [{ first, last }];
  findings.add(
    node,
    words.at(-1)?.toLowerCase() === "temporary" ? "Berth gives no temporary addresses" : `not a range of ${prefix}`,
  );
  return [];
}

function isInside(prefix: IpPrefix, address: IpAddress | null): boolean {
  return address !== null && addressFamily(address) === prefixFamily(prefix) && prefixContains(prefix, address);
}

/** Berth gives windows to everybody that it does not know; a pool with other rules is none. */
function readPool(pool: ConfNode, { node, prefix }: Pick<FoundSubnet, "node" | "prefix">, findings: Findings): FoundPool {
  const ranges: IpRange[] = [];
  const rules: ConfNode[] = [];
  let peer: ConfNode | null = null;
  for (const child of pool.body ?? []) {
    const name = settingName(child.words);
    if (isRange(child)) ranges.push(...rangeOf(child, prefix, findings));
    else if (child.body === null && ["allow", "deny"].includes(keyword(child.words[0]))) rules.push(child);
    else if (child.body === null && name === "failover") peer = child;
    else if (child.body !== null || !isSame(findSetting(node, name), child)) findings.add(child, "settings of a pool of its own");
  }
  const foreign = rules.filter((rule) => !isOwnRule(rule));
  for (const rule of foreign) findings.add(rule, "its pool is for some clients only, so its ranges are left out");
  return { node: pool, ranges: foreign.length === 0 ? ranges : [], peer };
}

function isSame(a: ConfNode | null, b: ConfNode): boolean {
  return a !== null && settingValues(a).join() === settingValues(b).join();
}

/** What Berth does anyway: who has a host declaration gets nothing from a pool, and BOOTP clients, which never give back, get nothing at all. */
function isOwnRule(rule: ConfNode): boolean {
  const text = rule.words.map((word) => keyword(word)).join(" ");
  return /^(deny known[- ]clients|allow unknown[- ]clients|deny dynamic bootp clients)$/.test(text);
}
