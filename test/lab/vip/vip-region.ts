import {
  advanceTopology,
  emptyTopology,
  ipPrefix,
  mergeByAddress,
  mergeReport,
  noteServers,
  rackVerdicts,
  realAddressOn,
  serversFor,
  topologyProblems,
  type AddressVerdict,
  type HostInterface,
  type IpAddress,
  type Topology,
  type TopologyEvent,
} from "@berth/core";
import { silentLog, systemClock, systemCommands } from "@berth/host";
import { systemFollowPrograms } from "../../../packages/agent/src/observe/interfaces/follow-program.js";
import { createInterfaceObserver } from "../../../packages/agent/src/observe/interfaces/interface-observer.js";
import type { Host } from "../host.js";

type Argv = readonly [string, ...string[]];

/**
 * What a region would know of these hosts: an observer in each host's namespace, their reports merged in this process. Keeps every answer that it
 * ever gave, so that a test can say "never".
 */
export class VipRegion {
  topology: Topology = emptyTopology();
  readonly events: TopologyEvent[] = [];
  /** Every DNS and NTP list since all hosts had reported, and every server identifier, each once. */
  readonly lists = new Set<string>();
  readonly identifiers = new Set<string>();
  readonly #network: { readonly prefix: ReturnType<typeof ipPrefix>; readonly site: string };
  readonly #hosts: readonly Host[];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  #sequence = 0;

  constructor(hosts: readonly Host[], prefix: string) {
    this.#hosts = hosts;
    this.#network = { prefix: ipPrefix(prefix), site: "lab" };
    for (const host of hosts) this.#observe(host);
  }

  get complete(): boolean {
    return this.topology.racks.size === this.#hosts.length;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }

  /** The topology as of now. */
  now(): Topology {
    this.topology = advanceTopology(this.topology, Date.now());
    return this.topology;
  }

  /** `address -> class` of all addresses of a rack that are not local. */
  classes(rack: string): Record<string, string> {
    const topology = this.now();
    const facts = topology.racks.get(rack);
    const verdicts: readonly AddressVerdict[] = facts === undefined ? [] : rackVerdicts(topology, facts);
    const telling = [...mergeByAddress(verdicts)].filter(([, verdict]) => verdict.class !== "local");
    return Object.fromEntries(telling.map(([address, verdict]) => [address, verdict.class]));
  }

  problems(): readonly string[] {
    return topologyProblems(this.now()).map(({ code, at }) => `${code} ${at}`);
  }

  moves(address: string): readonly string[] {
    return this.events.flatMap((event) =>
      event.type === "vip-moved" && event.address === address ? [`${event.from} -> ${event.to}`] : [],
    );
  }

  servers(): { readonly dns: readonly IpAddress[]; readonly ntp: readonly IpAddress[] } {
    const serving = this.#hosts.map(({ name }) => name);
    return serversFor(this.#network, this.now(), { serving, dns: null, ntp: null, upstreamNtp: [] });
  }

  /** What dhcpd on this rack must call itself. */
  identifier(rack: string): IpAddress | null {
    const facts = this.now().racks.get(rack);
    if (facts === undefined) return null;
    return realAddressOn(this.#network.prefix, facts.report.interfaces, rackVerdicts(this.topology, facts))?.address ?? null;
  }

  #observe(host: Host): void {
    const inside = (argv: Argv): Argv => host.command(argv);
    const observer = createInterfaceObserver({
      commands: { run: (argv, options) => systemCommands.run(inside(argv), options) },
      programs: { lines: (argv, signal) => systemFollowPrograms.lines(inside(argv), signal) },
      clock: systemClock,
      log: silentLog,
    });
    observer.onChange((interfaces) => this.#report(host.name, interfaces));
    this.#running.push(observer.run(this.#stop.signal));
  }

  #report(rack: string, interfaces: readonly HostInterface[]): void {
    this.#sequence += 1;
    const report = { rack, name: rack, site: "lab", session: 1, sequence: this.#sequence, interfaces };
    const { topology, events } = mergeReport(this.topology, report, Date.now());
    this.topology = noteServers(topology, { rack, servers: { dns: true, ntp: true } }, Date.now());
    this.events.push(...events);
    if (!this.complete) return;
    const { dns, ntp } = this.servers();
    this.lists.add(`dns ${dns.join(" ")} ntp ${ntp.join(" ")}`);
    for (const { name } of this.#hosts) this.identifiers.add(`${name} ${this.identifier(name) ?? "none"}`);
  }
}
