import { addressFamily, compareAddresses, ipv4Number, ipv4NumberOrNone, type IpAddress, type IpFamily } from "../address/ip.js";
import {
  prefixContains,
  prefixesOverlap,
  prefixFamily,
  prefixRange,
  unusableName,
  usableRange,
  type IpPrefix,
} from "../address/prefix.js";
import type { DesiredHost, DesiredState, DesiredSubnet } from "../desired/schema.js";
import { checkHostName, isHostName } from "../names/host-name.js";
import type { Problem } from "../problem.js";
import { areDistinct } from "../text/distinct-texts.js";
import type { RackLink, RackLinks } from "./rack-links.js";

/** What is wrong with a desired state before anything is compiled from it; in a stable order. `dhcpd -t` sees hardly any of it. */
export function checkDesiredDhcp(desired: Pick<DesiredState, "subnets">, local: RackLinks, family: IpFamily = 4): Problem[] {
  const subnets = desired.subnets.toSorted((a, b) => a.id - b.id || (a.prefix < b.prefix ? -1 : 1));
  const served = subnets.filter((subnet) => subnet.mode !== "off" && subnet.mode !== "observe");
  return [
    ...duplicateIds(subnets),
    ...overlaps(subnets),
    ...served.filter((subnet) => prefixFamily(subnet.prefix) === family).flatMap(checkSubnet),
    ...local.links.toSorted((a, b) => (a.name < b.name ? -1 : 1)).flatMap((link) => checkLink(link, subnets)),
  ];
}

function at(subnet: DesiredSubnet): string {
  return `subnet ${subnet.prefix}`;
}

function duplicateIds(subnets: readonly DesiredSubnet[]): Problem[] {
  return subnets
    .filter((subnet, place) => subnets[place - 1]?.id === subnet.id)
    .map((subnet) => ({
      code: "subnet-id-duplicate",
      at: at(subnet),
      message: `two subnets have the number ${subnet.id}`,
      remedy: "give each subnet its own number",
    }));
}

/** Prefixes and slices in one list: dhcpd takes overlapping subnets with a warning and then serves one of them at random. */
function overlaps(subnets: readonly DesiredSubnet[]): Problem[] {
  const blocks = subnets
    .flatMap((subnet) => [
      { subnet, prefix: subnet.prefix },
      ...(subnet.mode === "link-local" && subnet.enlistment !== null ? [{ subnet, prefix: subnet.enlistment.slice }] : []),
    ])
    .sort((a, b) => comparePrefixes(a.prefix, b.prefix));
  const problems: Problem[] = [];
  // Sorted by first address, a block can only be overlapped by the widest-reaching one before it.
  let widest = blocks[0];
  for (const block of blocks.slice(1)) {
    if (widest !== undefined && prefixesOverlap(widest.prefix, block.prefix)) {
      const same = widest.prefix === block.prefix;
      problems.push({
        code: same ? "subnet-duplicate" : "subnet-overlap",
        at: at(block.subnet),
        message: same ? `${block.prefix} is declared twice` : `${block.prefix} overlaps ${widest.prefix}`,
        remedy: "give each network its own prefix, and each link its own slice of the enlistment pool",
      });
    } else {
      widest = block;
    }
  }
  return problems;
}

function comparePrefixes(a: IpPrefix, b: IpPrefix): number {
  const x = prefixRange(a);
  const y = prefixRange(b);
  return compareAddresses(x.first, y.first) || compareAddresses(y.last, x.last);
}

function checkSubnet(subnet: DesiredSubnet): Problem[] {
  const problems: Problem[] = [];
  const add = (code: string, message: string, remedy: string): void => {
    problems.push({ code, at: at(subnet), message, remedy });
  };
  if (subnet.leaseTime > subnet.maxLeaseTime)
    add(
      "lease-time-above-max",
      `the lease time ${subnet.leaseTime} s is above its maximum ${subnet.maxLeaseTime} s`,
      "raise the maximum",
    );
  if (subnet.gateway !== null && !prefixContains(subnet.prefix, subnet.gateway))
    add("gateway-outside-subnet", `the gateway ${subnet.gateway} is not in it`, "give a gateway inside the prefix, or none");
  if (subnet.mode === "window") problems.push(...checkWindow(subnet));
  if (subnet.mode === "link-local") problems.push(...checkEnlistment(subnet));
  return [...problems, ...checkHosts(subnet)];
}

function checkWindow(subnet: DesiredSubnet): Problem[] {
  const { window } = subnet;
  const refuse = (code: string, message: string, remedy: string): Problem[] => [{ code, at: at(subnet), message, remedy }];
  if (window === null) return refuse("window-missing", "mode window without a window", "declare the first and last address");
  const shown = `the window ${window.first}-${window.last}`;
  if (!prefixContains(subnet.prefix, window.first) || !prefixContains(subnet.prefix, window.last))
    return refuse("window-outside-subnet", `${shown} is not inside it`, "choose addresses of the prefix");
  if (compareAddresses(window.first, window.last) > 0)
    return refuse("window-inverted", `${shown} ends before it begins`, "exchange the two");
  const usable = usableRange(subnet.prefix);
  if (compareAddresses(window.first, usable.first) < 0 || compareAddresses(window.last, usable.last) > 0)
    return refuse(
      "window-has-network-or-broadcast",
      `${shown} contains the ${unusableName(subnet.prefix)}`,
      `usable are ${usable.first} to ${usable.last}`,
    );
  const odd = (subnet.excludedRanges ?? []).find(
    ({ first, last }) => addressFamily(first) !== addressFamily(last) || compareAddresses(first, last) > 0,
  );
  if (odd === undefined) return [];
  return refuse("excluded-range-inverted", `the excluded range ${odd.first}-${odd.last} is none`, "exchange the two");
}

function checkEnlistment(subnet: DesiredSubnet): Problem[] {
  if (subnet.enlistment === null) {
    return [
      {
        code: "enlistment-missing",
        at: at(subnet),
        message: "mode link-local without a slice of the enlistment pool",
        remedy: "give this link a slice",
      },
    ];
  }
  const { slice } = subnet.enlistment;
  if (prefixFamily(slice) !== 4)
    return [
      { code: "enlistment-family", at: at(subnet), message: `the slice ${slice} is not IPv4`, remedy: "give an IPv4 slice" },
    ];
  return [];
}

function checkHosts(subnet: DesiredSubnet): Problem[] {
  if (areHostsClean(subnet)) return [];
  const problems: Problem[] = [];
  const usable = usableRange(subnet.prefix);
  const seen = new Set<string>();
  const names = new Map<IpAddress, string>();
  for (const host of subnet.hosts.toSorted((a, b) => compareText(sortKey(a.address), sortKey(b.address)))) {
    const place = `${at(subnet)} host ${host.hardwareAddress}`;
    if (!prefixContains(subnet.prefix, host.address)) {
      problems.push({
        code: "fixed-address-outside-subnet",
        at: place,
        message: `its address ${host.address} is not in ${subnet.prefix}`,
        remedy: "give it an address of the prefix",
      });
    } else if (compareAddresses(host.address, usable.first) < 0 || compareAddresses(host.address, usable.last) > 0) {
      problems.push({
        code: "fixed-address-not-usable",
        at: place,
        message: `${host.address} is the ${unusableName(subnet.prefix)}`,
        remedy: `usable are ${usable.first} to ${usable.last}`,
      });
    }
    if (seen.has(host.hardwareAddress)) {
      problems.push({
        code: "host-duplicate",
        at: place,
        message: "the hardware address has two addresses in this subnet",
        remedy: "give it one",
      });
    }
    seen.add(host.hardwareAddress);
    const name = names.get(host.address) ?? host.name;
    if (name !== host.name) {
      problems.push({
        code: "fixed-address-duplicate",
        at: place,
        message: `${host.address} belongs to ${name} as well as to ${host.name}`,
        remedy: "only the interfaces of one machine may share an address",
      });
    }
    names.set(host.address, name);
    problems.push(...checkHostName(host.name, place));
  }
  return problems;
}

/** Without a word about anything: 50,000 hosts are looked at before every start of dhcpd, and nearly always all is well. */
function areHostsClean({ prefix, hosts }: DesiredSubnet): boolean {
  if (prefixFamily(prefix) !== 4) return hosts.length === 0;
  const usable = usableRange(prefix);
  const [first, last] = [ipv4Number(usable.first), ipv4Number(usable.last)];
  let before = -1;
  let isRising = true;
  for (const { address, name } of hosts) {
    const value = ipv4NumberOrNone(address);
    if (value < first || value > last || !isHostName(name)) return false;
    isRising &&= value > before;
    before = value;
  }
  return (isRising || hasEachAddressOneName(hosts)) && areDistinct(hosts, hardwareOf);
}

function hasEachAddressOneName(hosts: readonly DesiredHost[]): boolean {
  const names = new Map<IpAddress, string>();
  for (const { address, name } of hosts) {
    if ((names.get(address) ?? name) !== name) return false;
    names.set(address, name);
  }
  return true;
}

function hardwareOf({ hardwareAddress }: DesiredHost): string {
  return hardwareAddress;
}

function checkLink(link: RackLink, subnets: readonly DesiredSubnet[]): Problem[] {
  const subnet = subnets.find((candidate) => candidate.id === link.subnetId);
  const place = `interface ${printable(link.name)}`;
  // A name as the kernel allows it (dev_valid_name), less what would need escapes on dhcpd's command line.
  if (!/^[A-Za-z0-9][A-Za-z0-9._@:+-]{0,14}$/.test(link.name))
    return [{ code: "interface-name", at: place, message: "not a usable interface name", remedy: "rename the interface" }];
  if (subnet === undefined || prefixContains(subnet.prefix, link.address)) return [];
  return [
    {
      code: "link-address-outside-subnet",
      at: place,
      message: `its address ${link.address} is not in ${subnet.prefix}`,
      remedy: "look at the addresses of the interface",
    },
  ];
}

/** Fixed width, so that text order is numeric order within a family. */
function sortKey(address: IpAddress): string {
  return addressFamily(address) === 4 ? ipv4Number(address).toString().padStart(10, "0") : address;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 40);
}
