import { prefixFamily } from "../address/prefix.js";
import type { FailoverWish } from "../desired/dhcp-settings.js";
import { RowCollector } from "../import/collect-rows.js";
import { addHosts, newHost, readHostStatement } from "../import/conf-hosts.js";
import type { ImportRow } from "../import/import-row.js";
import { sharedAddresses } from "../import/shared-addresses.js";
import { reviewHostScopes, type FoundHost } from "./adopt-hosts.js";
import { Wires, type AdoptingHost } from "./adopt-relays.js";
import { isSlice, withSlice } from "./adopt-slice.js";
import { adoptSubnet, domainOf } from "./adopt-subnet.js";
import { BootReader } from "./boot-effects.js";
import { keyword, readConfTree, type ConfFiles, type ConfNode } from "./conf-tree.js";
import { counterpartOf } from "./counterparts.js";
import { Definitions } from "./definitions.js";
import { readFailoverPeer } from "./failover-peers.js";
import { findSubnet, isPool, type FoundSubnet } from "./find-subnet.js";
import { Findings } from "./findings.js";
import type { AdoptPlan } from "./plan.js";
import { SettingReader } from "./setting-reader.js";
import { settingName } from "./settings.js";

const SUBNETS_MAX = 4096;

/**
 * What an existing dhcpd.conf(5) or dhcpd6.conf comes to in Berth: its subnets, windows and machines, and each statement that has no counterpart. `main` is
 * the file that dhcpd is started with, `host` the one that runs it; the same of both always gives the same plan.
 */
export function adoptDhcpdConf(main: string, files: ConfFiles, host: AdoptingHost = { addresses: null }): AdoptPlan {
  const { problems, root } = readConfTree(main, files);
  const unreadable = new Findings();
  for (const problem of problems) unreadable.addProblem(problem);
  const walk = new ConfWalk(root, host);
  walk.block(root);
  const { rows, refusals } = walk.machines();
  for (const one of walk.hosts)
    reviewHostScopes(
      one,
      walk.subnets.map(({ found }) => found),
      walk.findings,
    );
  const subnets = walk.adopted(rows.flatMap(({ address }) => (address === null ? [] : [address])));
  for (const refusal of refusals) walk.findings.addProblem(refusal);
  return {
    format: "berth-adopt-1",
    subnets,
    machines: rows.map(({ address, at, name, nics, subnet }) => ({ at, nics: [...nics], name, address, subnet })),
    withoutCounterpart: walk.findings.all(),
    unreadable: unreadable.all(),
  };
}

interface Placed {
  readonly found: FoundSubnet;
  slice: FoundSubnet | null;
}

class ConfWalk {
  readonly findings = new Findings();
  readonly subnets: Placed[] = [];
  readonly hosts: FoundHost[] = [];
  private readonly definitions: Definitions;
  private readonly boot: BootReader;
  private readonly wires: Wires;
  private readonly peers = new Map<string, FailoverWish>();

  constructor(root: ConfNode, host: AdoptingHost) {
    this.definitions = new Definitions(root);
    this.boot = new BootReader(this.definitions, this.findings);
    this.wires = new Wires(host, this.findings);
  }

  /** Everything in a block whose settings reach what is in it: the file, groups, shared networks. */
  block(block: ConfNode): void {
    /** In its own wire only: a slice belongs to the subnet that stands before it in the same block. */
    let before: Placed | null = null;
    for (const node of block.body ?? []) {
      const name = keyword(node.words[0]);
      if (node.body === null && RANGES.has(name)) this.findings.add(node, "a range outside of every subnet");
      else if (node.body === null) this.setting(node);
      else if (name === "group" || name === "shared-network") this.block(node);
      else if (name === "host") this.host(node);
      else if (name === "subnet" || name === "subnet6") before = this.subnet(node, before);
      else if (name === "class") this.boot.addClass(node);
      else if (name === "failover") this.peers.set(node.words[2]?.text ?? "", readFailoverPeer(node, this.findings));
      else this.other(node);
    }
  }

  /** Names without a domain, or cut down to their host part in the domain of a subnet of this file. */
  machines(): { readonly rows: readonly ImportRow[]; readonly refusals: RowCollector["refusals"] } {
    const domains = this.subnets.flatMap(({ found }) => domainOf(found, new SettingReader(found.node, this.findings)) ?? []);
    const collector = new RowCollector({ file: "", domains: [...new Set(domains)] });
    addHosts(
      collector,
      this.hosts.map(({ text }) => text),
    );
    return { rows: sharedAddresses(collector.reading()).rows, refusals: collector.refusals };
  }

  adopted(statics: NonNullable<ImportRow["address"]>[]): AdoptPlan["subnets"] {
    const { boot, definitions, findings, peers } = this;
    return this.subnets.slice(0, SUBNETS_MAX).map(({ found, slice }) => {
      const plain = adoptSubnet(found, { statics, definitions, boot, peers, findings });
      const subnet = prefixFamily(found.prefix) === 6 ? plain : this.wires.withRelay(plain, found);
      return slice === null ? subnet : withSlice(subnet, { found, slice, boot, findings });
    });
  }

  private subnet(node: ConfNode, before: Placed | null): Placed | null {
    const found = findSubnet(node, this.findings);
    if (found === null) return before;
    if (before !== null && before.slice === null && isSlice(found)) {
      before.slice = found; // what stands in it must follow from the mode
      return before;
    }
    for (const child of node.body ?? []) {
      const name = keyword(child.words[0]);
      if (child.body === null) this.setting(child);
      else if (name === "host") this.host(child);
      else if (name === "group") this.block(child);
      else if (name === "class") this.boot.addClass(child);
      else if (!isPool(child)) this.other(child);
    }
    if (isEmpty(node)) {
      this.findings.add(node, "nothing is served in it, and Berth needs no such declaration to start");
      this.wires.addCarrier(found.prefix);
      return before;
    }
    const placed: Placed = { found, slice: null };
    if (this.subnets.length >= SUBNETS_MAX) this.findings.add(node, `more than ${SUBNETS_MAX} subnets`);
    this.subnets.push(placed);
    this.wires.add(found);
    return placed;
  }

  private host(node: ConfNode): void {
    const text = newHost(node.words, node.at);
    for (const child of node.body ?? []) readHostStatement(text, child.words);
    if (text.turnedAway) this.findings.add(node, "a client that dhcpd must not answer");
    else if (!text.deleted) this.hosts.push({ node, text });
  }

  private setting(node: ConfNode): void {
    const isRoutes = this.definitions.namesOf(ROUTES_CODE).some((name) => settingName(node.words) === `option ${name}`);
    const why = isRoutes ? null : counterpartOf(node);
    if (why !== null) this.findings.add(node, why);
  }

  private other(node: ConfNode): void {
    const why = counterpartOf(node);
    if (why !== null) this.findings.add(node, why);
  }
}

const RANGES: ReadonlySet<string> = new Set(["range", "range6"]);

/** Read for each subnet that it reaches. */
const ROUTES_CODE = 121;

/** `subnet ... { }` makes dhcpd start on an interface and serves nobody; so does one that only says who is authoritative. */
function isEmpty({ body }: ConfNode): boolean {
  return (body ?? []).every(({ words }) => ["authoritative", "not"].includes(keyword(words[0])));
}
