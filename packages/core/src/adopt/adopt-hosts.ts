import { parseIpAddress } from "../address/ip.js";
import { prefixContains } from "../address/prefix.js";
import { readHostStatement, type HostText } from "../import/conf-hosts.js";
import { counterpartOf, isOptionDefinition, isReadByBoot, isReadBySubnets } from "./counterparts.js";
import { keyword, type ConfNode } from "./conf-tree.js";
import type { FoundSubnet } from "./find-subnet.js";
import type { Findings } from "./findings.js";
import { findSetting, settingName, settingValues } from "./settings.js";

export interface FoundHost {
  readonly node: ConfNode;
  readonly text: HostText;
}

const OF_SOME = "an option of some machines; Berth knows options of subnets";

/**
 * What a host's own block and the groups around it say must be what its subnet says anyway: Berth has no options of single machines. A host without an
 * address may turn up in every subnet.
 */
export function reviewHostScopes({ node, text }: FoundHost, subnets: readonly FoundSubnet[], findings: Findings): void {
  let its: readonly FoundSubnet[] | null = null;
  for (let scope: ConfNode | null = node; scope !== null && HOST_SCOPES.has(keyword(scope.words[0])); scope = scope.outer) {
    for (const child of scope === node ? ownSettings(node, text) : optionsOf(scope)) {
      its ??= subnetsOf(text, subnets);
      const around = scope;
      const isTold =
        isOption(child) && child.body === null && its.length > 0 && its.every((subnet) => isReached(subnet, around, child));
      if (!isTold) findings.add(child, OF_SOME);
    }
  }
}

const HOST_SCOPES: ReadonlySet<string> = new Set(["host", "group"]);

function ownSettings(node: ConfNode, text: HostText): readonly ConfNode[] {
  return (node.body ?? []).filter(
    (child) => child.body !== null || !(readHostStatement(scratch(text), child.words) || isNothing(child)),
  );
}

/** Of a group; its other settings are judged where the group is walked through. A group may have thousands of hosts, so each is read once. */
function optionsOf(group: ConfNode): readonly ConfNode[] {
  const known = groups.get(group);
  const options = known ?? (group.body ?? []).filter(isOption);
  if (known === undefined) groups.set(group, options);
  return options;
}

const groups = new WeakMap<ConfNode, readonly ConfNode[]>();

function subnetsOf({ addresses }: HostText, subnets: readonly FoundSubnet[]): readonly FoundSubnet[] {
  const parsed = addresses.flatMap((address) => parseIpAddress(address) ?? []);
  return parsed.length === 0 ? subnets : subnets.filter(({ prefix }) => parsed.some((one) => prefixContains(prefix, one)));
}

/** Whether the subnet says it too: a group around both reaches both. */
function isReached(subnet: FoundSubnet, scope: ConfNode, child: ConfNode): boolean {
  for (let around = subnet.node.outer; around !== null; around = around.outer) if (around === scope) return true;
  const setting = findSetting(subnet.node, settingName(child.words));
  return setting !== null && settingValues(setting).join() === settingValues(child).join();
}

function isOption(child: ConfNode): boolean {
  const name = settingName(child.words);
  return (isReadBySubnets(name) || isReadByBoot(name)) && !isOptionDefinition(child);
}

/** Settings that Berth has anyway, such as `ddns-updates off`. */
function isNothing(child: ConfNode): boolean {
  return child.body === null && !isOption(child) && counterpartOf(child) === null;
}

function scratch(text: HostText): HostText {
  return { ...text, nics: [], addresses: [] };
}
