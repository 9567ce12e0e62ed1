import type { DesiredSubnet, IpAddress, Problem } from "@berth/core";
import type { Clock, Commands, Log } from "@berth/host";
import type { Attachment } from "./attachment.js";
import type { AgentConfig } from "./config.js";
import { askDhcpServers, type AskedLink } from "./observe/dhcp-servers/ask-dhcp-servers.js";
import { createDhcpServerWatch } from "./observe/dhcp-servers/dhcp-server-watch.js";
import type { InterfaceObserver } from "./observe/interfaces/interface-observer.js";
import { provokeResolution } from "./observe/wire/provoke.js";
import { createWireProber } from "./observe/wire/wire-prober.js";

/** What the agent asks on its links beside serving them: which foreign DHCP servers are there. */
export interface Wire {
  run(signal: AbortSignal): Promise<void>;
  /** Addresses or desired state changed. */
  nudge(): void;
  problems(): readonly Problem[];
}

export interface WirePorts {
  readonly attach: Attachment;
  readonly observer: InterfaceObserver;
  readonly ports: { readonly clock: Clock; readonly commands: Commands; readonly log: Log };
  readonly onChange: () => void;
}

export function createWire(config: AgentConfig, { attach, observer, ports, onChange }: WirePorts): Wire {
  const { clock, commands, log } = ports;
  const neighbors = (signal: AbortSignal) => observer.neighbors(signal);
  const prober = createWireProber({ commands, clock, neighbors, provoke: provokeResolution });
  const servers = createDhcpServerWatch({
    clock,
    log,
    random: Math.random,
    links: () => servedLinks(attach),
    trusted: () => new Set([...ownAddresses(observer), ...config.dhcpd.known_servers]),
    ask: (links, signal) => askDhcpServers(links, clock, signal),
    prober,
    onChange,
    periodMs: config.dhcpd.foreign_check_seconds * 1000,
  });
  return {
    run: (signal) => servers.run(signal),
    nudge: () => servers.nudge(),
    problems: () => servers.problems(),
  };
}

/** Links on which this rack gives out addresses, each once: on a link of mode `observe` a foreign server is what is expected. */
function servedLinks(attach: Attachment): readonly AskedLink[] {
  const subnets = new Map(attach.desired()?.subnets.map((subnet) => [subnet.id, subnet]));
  const links =
    attach.now()?.local.links.filter(({ subnetId, address }) => gives(subnets.get(subnetId)) && address.includes(".")) ?? [];
  return [...new Map(links.toReversed().map(({ name, address }) => [name, { interfaceName: name, address }])).values()].reverse();
}

function gives(subnet: DesiredSubnet | undefined): boolean {
  return subnet !== undefined && subnet.mode !== "off" && subnet.mode !== "observe";
}

function ownAddresses(observer: InterfaceObserver): readonly IpAddress[] {
  return (observer.current() ?? []).flatMap(({ addresses }) => addresses.map(({ address }) => address));
}
