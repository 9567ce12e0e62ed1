import { ipPrefix, prefixContains, prefixLength, prefixRange, type IpPrefix } from "../address/prefix.js";
import { enlistmentAddress, enlistmentRanges } from "../dhcpd/enlistment.js";
import { mergeRanges } from "../address/ranges.js";
import type { ConfNode } from "./conf-tree.js";
import type { FoundSubnet } from "./find-subnet.js";
import type { Findings } from "./findings.js";
import type { AdoptedSubnet } from "./plan.js";
import { isSameBoot, withRackPlace } from "./adopt-boot.js";
import type { BootReader } from "./boot-effects.js";
import { isReadByBoot } from "./counterparts.js";
import { findSetting, settingName, settingValues } from "./settings.js";

const LINK_LOCAL = ipPrefix("169.254.0.0/16");

/** Whether a subnet is a slice of an enlistment pool: RFC 3927 addresses, or, with another pool, told to reach nothing but the server as Berth tells it. */
export function isSlice({ node, prefix }: FoundSubnet): boolean {
  if (prefixContains(LINK_LOCAL, prefixRange(prefix).first)) return prefixLength(prefix) > 16;
  const rack = rackIn(prefix);
  const own = (name: string): ConfNode | undefined =>
    node.body?.find((child) => child.body === null && settingName(child.words) === name);
  const isRack = (name: string): boolean => {
    const setting = own(name);
    return rack !== null && setting !== undefined && settingValues(setting).join() === rack;
  };
  const times = [...LEASE_TIMES]
    .map((name) => own(name))
    .map((setting) => (setting === undefined ? "" : settingValues(setting).join()));
  const isOneTime = times[0] !== "" && new Set(times).size === 1;
  const reachesRackAlone = isRack("option dhcp-server-identifier") && isRack("option domain-name-servers");
  return isOneTime && reachesRackAlone && findSetting(node, "option routers") === null;
}

/** The first address, which the rack has itself. */
function rackIn(prefix: IpPrefix): string | null {
  return enlistmentAddress({ mode: "link-local", enlistment: { slice: prefix, leaseTime: 60 } })?.address ?? null;
}

/** A slice beside its subnet says that the subnet is in link-local mode. What stands in it and does not follow from that is a finding. */
export function withSlice(
  subnet: AdoptedSubnet,
  {
    boot,
    findings,
    found,
    slice,
  }: { readonly found: FoundSubnet; readonly slice: FoundSubnet; readonly boot: BootReader; readonly findings: Findings },
): AdoptedSubnet {
  if (subnet.mode === "window") {
    findings.add(slice.node, "a subnet has a window or an enlistment pool, not both");
    return subnet;
  }
  const time = findSetting(slice.node, "default-lease-time");
  const leaseTime = Math.max(10, Number(time === null ? 60 : settingValues(time)[0]) || 60);
  reviewSlice(slice, { besides: found.node, leaseTime }, findings);
  const identifier = findSetting(found.node, "option dhcp-server-identifier");
  const rack = identifier === null ? "" : (settingValues(identifier)[0] ?? "");
  const racks = { a: rack, b: rackIn(slice.prefix) ?? "" };
  if (rack === "" || !isSameBoot(boot.effects(found.node), boot.effects(slice.node), racks))
    for (const child of slice.node.body ?? []) if (isReadByBoot(settingName(child.words))) findings.add(child, AS_IN_THE_SUBNET);
  const told = subnet.dhcp;
  const dhcp = told?.boot === undefined || rack === "" ? told : { ...told, boot: withRackPlace(told.boot, rack) };
  const pool = prefixContains(LINK_LOCAL, prefixRange(slice.prefix).first) ? LINK_LOCAL : slice.prefix;
  return { ...subnet, dhcp, mode: "link-local", enlistment: { pool, sliceLength: prefixLength(slice.prefix), leaseTime } };
}

const LEASE_TIMES: ReadonlySet<string> = new Set(["min-lease-time", "default-lease-time", "max-lease-time"]);
/** Told from the rack's address in the slice, or as in the subnet itself. */
const FROM_RACK: ReadonlySet<string> = new Set([
  "option dhcp-server-identifier",
  "option domain-name-servers",
  "option ntp-servers",
]);

const AS_IN_THE_SUBNET =
  "in an enlistment pool Berth tells machines what it tells them in the subnet, and to reach the rack alone";

function reviewSlice(
  slice: FoundSubnet,
  { besides, leaseTime }: { readonly besides: ConfNode; readonly leaseTime: number },
  findings: Findings,
): void {
  const { node, prefix } = slice;
  const rack = rackIn(prefix);
  for (const child of node.body ?? []) {
    const name = settingName(child.words);
    const values = settingValues(child).join();
    const follows =
      (child.body !== null && name === "pool") ||
      isReadByBoot(name) || // compared as a whole
      name === "range" ||
      (LEASE_TIMES.has(name) && Number(values) === leaseTime) ||
      (FROM_RACK.has(name) && values === rack) ||
      valuesAt(besides, name) === values;
    if (!follows) findings.add(child, AS_IN_THE_SUBNET);
  }
  const given = mergeRanges(slice.ranges);
  const own = enlistmentRanges(prefix);
  if (JSON.stringify(given) !== JSON.stringify(own)) findings.add(node, "Berth gives all of the slice, whatever its ranges are");
}

function valuesAt(block: ConfNode, name: string): string | null {
  const setting = findSetting(block, name);
  return setting === null ? null : settingValues(setting).join();
}
