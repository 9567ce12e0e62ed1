import { ipPrefix, prefixLength } from "../address/prefix.js";
import { RowCollector } from "../import/collect-rows.js";
import { addHosts, newHost, readHostStatement, type HostText } from "../import/conf-hosts.js";
import type { ImportRow } from "../import/import-row.js";
import { sharedAddresses } from "../import/shared-addresses.js";
import { adoptSubnet, findSubnet, isSlice, type FoundSubnet } from "./adopt-subnet.js";
import { keyword, readConfTree, type ConfFiles, type ConfNode } from "./conf-tree.js";
import { counterpartOf } from "./counterparts.js";
import { Findings } from "./findings.js";
import type { AdoptedSubnet, AdoptPlan } from "./plan.js";
import { findSetting, settingValues } from "./settings.js";

const SUBNETS_MAX = 4096;

/**
 * What an existing dhcpd.conf(5) comes to in Berth: its subnets, windows and machines, and each statement that has no counterpart. `main` is the
 * file that dhcpd is started with; the same files always give the same plan.
 */
export function adoptDhcpdConf(main: string, files: ConfFiles): AdoptPlan {
  const { problems, root } = readConfTree(main, files);
  const unreadable = new Findings();
  for (const problem of problems) unreadable.addProblem(problem);
  const walk = new ConfWalk();
  walk.block(root);
  const { rows, refusals } = walk.machines();
  const statics = rows.flatMap(({ address }) => (address === null ? [] : [address]));
  const subnets = walk.subnets.map(({ found, slice }) =>
    withSlice(adoptSubnet(found, statics, walk.findings), slice, walk.findings),
  );
  for (const refusal of refusals) walk.findings.addProblem(refusal);
  return {
    format: "berth-adopt-1",
    subnets: subnets.slice(0, SUBNETS_MAX),
    machines: rows.map(({ address, at, name, nics, subnet }) => ({ at, nics: [...nics], name, address, subnet })),
    withoutCounterpart: walk.findings.all(),
    unreadable: unreadable.all(),
  };
}

/** A slice of Berth's own beside its subnet says that the subnet is in link-local mode. */
function withSlice(subnet: AdoptedSubnet, slice: FoundSubnet | null, findings: Findings): AdoptedSubnet {
  if (slice === null) return subnet;
  if (subnet.mode === "window") {
    findings.add(slice.node, "a subnet has a window or an enlistment pool, not both");
    return subnet;
  }
  const time = findSetting(slice.node, "default-lease-time");
  const leaseTime = Math.max(10, Number(time === null ? 60 : settingValues(time)[0]) || 60);
  const enlistment = { pool: ipPrefix("169.254.0.0/16"), sliceLength: prefixLength(slice.prefix), leaseTime };
  return { ...subnet, mode: "link-local", enlistment };
}

interface Placed {
  readonly found: FoundSubnet;
  slice: FoundSubnet | null;
}

class ConfWalk {
  readonly findings = new Findings();
  readonly subnets: Placed[] = [];
  private readonly hosts: HostText[] = [];

  /** Everything in a block whose settings reach what is in it: the file, groups, shared networks. */
  block(block: ConfNode): void {
    /** In its own wire only: a slice belongs to the subnet that stands before it in the same block. */
    let before: Placed | null = null;
    for (const node of block.body ?? []) {
      const name = keyword(node.words[0]);
      if (node.body === null) this.setting(node);
      else if (name === "group" || name === "shared-network") this.block(node);
      else if (name === "host") this.host(node);
      else if (name === "subnet") before = this.subnet(node, before);
      else this.findings.add(node, counterpartOf(node) ?? "Berth has nothing like it");
    }
  }

  /** Names without a domain, or cut down to their host part in the domain of a subnet of this file. */
  machines(): { readonly rows: readonly ImportRow[]; readonly refusals: RowCollector["refusals"] } {
    const domains = this.subnets.flatMap(({ found }) => {
      const setting = findSetting(found.node, "option domain-name");
      return setting === null ? [] : [(settingValues(setting)[0] ?? "").replace(/\.$/, "").toLowerCase()];
    });
    const collector = new RowCollector({ file: "", domains: [...new Set(domains)] });
    addHosts(collector, this.hosts);
    return { rows: sharedAddresses(collector.reading()).rows, refusals: collector.refusals };
  }

  private subnet(node: ConfNode, before: Placed | null): Placed | null {
    const found = findSubnet(node, this.findings);
    if (found === null) return before;
    if (isSlice(found) && before !== null && before.slice === null) {
      before.slice = found; // all that stands in it follows from the mode
      return before;
    }
    for (const child of node.body ?? []) {
      const name = keyword(child.words[0]);
      if (child.body === null) this.setting(child);
      else if (name === "host") this.host(child);
      else if (name === "group") this.block(child);
      else if (name !== "pool") this.findings.add(child, counterpartOf(child) ?? "Berth has nothing like it");
    }
    if (isEmpty(node)) {
      this.findings.add(node, "nothing is served in it, and Berth needs no such declaration to start");
      return before;
    }
    const placed: Placed = { found, slice: null };
    this.subnets.push(placed);
    return placed;
  }

  private host(node: ConfNode): void {
    const host = newHost(node.words, node.at);
    for (const child of node.body ?? []) {
      const isDomain = child.body === null && counterpartOf(child) === null;
      if (child.body !== null || (!readHostStatement(host, child.words) && !isDomain))
        this.findings.add(child, "an option of one machine; Berth knows options of subnets");
    }
    if (host.turnedAway) this.findings.add(node, "a client that dhcpd must not answer");
    else if (!host.deleted) this.hosts.push(host);
  }

  private setting(node: ConfNode): void {
    const why = counterpartOf(node);
    if (why !== null) this.findings.add(node, why);
  }
}

/** `subnet ... { }` makes dhcpd start on an interface and serves nobody; so does one that only says who is authoritative. */
function isEmpty({ body }: ConfNode): boolean {
  return (body ?? []).every(({ words }) => ["authoritative", "not"].includes(keyword(words[0])));
}
