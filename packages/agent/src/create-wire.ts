import { addressFamily, type DesiredSubnet, type IpAddress, type IpFamily, type Problem, type WireAnswer } from "@berth/core";
import type { Clock, Log } from "@berth/host";
import type { Attachment } from "./attachment.js";
import type { AgentConfig } from "./config.js";
import { askDhcp6Servers } from "./observe/dhcp-servers/ask-dhcp6-servers.js";
import { askDhcpServers, type AskedLink } from "./observe/dhcp-servers/ask-dhcp-servers.js";
import { createDhcpServerWatch } from "./observe/dhcp-servers/dhcp-server-watch.js";
import type { InterfaceObserver } from "./observe/interfaces/interface-observer.js";
import type { WireProber } from "./observe/wire/wire-prober.js";
import { createWireWatch, type WireLink } from "./observe/wire/wire-watch.js";

/** What the agent asks on its links beside serving them: who has an address, and which foreign DHCP servers are there. */
export interface Wire {
  run(signal: AbortSignal): Promise<void>;
  /** Addresses or desired state changed. */
  nudge(): void;
  problems(): readonly Problem[];
  /** Called when the problems changed. */
  onChange(listener: () => void): void;
  /** The region wants these addresses probed. */
  want(addresses: readonly IpAddress[]): void;
  /** All that is remembered of who answered. */
  answers(): readonly WireAnswer[];
}

export interface WirePorts {
  readonly attach: Attachment;
  readonly prober: WireProber;
  readonly observer: InterfaceObserver;
  readonly ports: { readonly clock: Clock; readonly log: Log };
  readonly report: (answers: readonly WireAnswer[]) => void;
}

export function createWire(config: AgentConfig, { attach, observer, ports, prober, report }: WirePorts): Wire {
  let listener = (): void => undefined;
  const onChange = (): void => listener();
  const { clock, log } = ports;
  const neighbors = (signal: AbortSignal) => observer.neighbors(signal);
  const searches = ([4, 6] as const).map((family) =>
    createDhcpServerWatch({
      clock,
      log,
      random: Math.random,
      links: () => servedLinks(attach, family),
      trusted: () => new Set([...ownAddresses(observer), ...config.dhcpd.known_servers]),
      ask: (links, signal) => (family === 4 ? askDhcpServers : askDhcp6Servers)(links, clock, signal),
      prober,
      onChange,
      periodMs: config.dhcpd.foreign_check_seconds * 1000,
    }),
  );
  const watch = createWireWatch({ clock, log, links: () => wireLinks(attach), prober, neighbors, report, onChange });
  return {
    run: async (signal) => void (await Promise.all([...searches.map((search) => search.run(signal)), watch.run(signal)])),
    nudge: () => searches.forEach((search) => search.nudge()),
    problems: () => [
      ...searches.flatMap((search) => search.problems()),
      ...[watch.problem()].filter((problem) => problem !== null),
    ],
    onChange: (changed) => void (listener = changed),
    // A probe flushes entries of the neighbour table: an agent that only observes listens and changes nothing.
    want: (addresses) => watch.want(config.mode === "manage" ? addresses : []),
    answers: () => watch.all(),
  };
}

/** Every declared network that the rack is attached to, whatever its mode: addresses are given there too. */
function wireLinks(attach: Attachment): readonly WireLink[] {
  const prefixes = new Map(attach.desired()?.subnets.map(({ id, prefix }) => [id, prefix]));
  return (attach.now()?.local.links ?? []).flatMap(({ name, subnetId, address }) => {
    const prefix = prefixes.get(subnetId);
    return prefix === undefined ? [] : [{ interfaceName: name, prefix, address }];
  });
}

/** Links on which this rack gives out addresses, each once: on a link of mode `observe` a foreign server is what is expected. */
function servedLinks(attach: Attachment, family: IpFamily): readonly AskedLink[] {
  const subnets = new Map(attach.desired()?.subnets.map((subnet) => [subnet.id, subnet]));
  const links =
    attach
      .now()
      ?.local.links.filter(({ subnetId, address }) => gives(subnets.get(subnetId)) && addressFamily(address) === family) ?? [];
  return [...new Map(links.toReversed().map(({ name, address }) => [name, { interfaceName: name, address }])).values()].reverse();
}

function gives(subnet: DesiredSubnet | undefined): boolean {
  return subnet !== undefined && subnet.mode !== "off" && subnet.mode !== "observe";
}

function ownAddresses(observer: InterfaceObserver): readonly IpAddress[] {
  return (observer.current() ?? []).flatMap(({ addresses }) => addresses.map(({ address }) => address));
}
