import { dirname, join } from "node:path";
import type { NamedConfPaths, OmapiSettings } from "@berth/core";
import type { AgentConfig } from "./config.js";
import type { DhcpdPaths } from "./dhcp/dhcpd-server.js";
import type { NamedPaths } from "./reconcile/named-activation.js";
import { statusSocketPath } from "./status/status-socket.js";

/** Every place on disk that the agent uses, from its configuration. */
export interface AgentPaths {
  readonly state: string;
  readonly socket: string;
  readonly dhcpd: DhcpdPaths;
  readonly dhcpd6: DhcpdPaths;
  /** Null: OMAPI is off. */
  readonly omapi: OmapiSettings | null;
  readonly named: NamedPaths;
  readonly namedConf: NamedConfPaths;
  /** Notes of the systemd driver, and the arguments that its units read. */
  readonly services: string;
  /** Folders to make before anything else. */
  readonly folders: readonly string[];
}

export function agentPaths(config: AgentConfig): AgentPaths {
  const dhcpd = dhcpdPaths(config, 4);
  const dhcpd6 = dhcpdPaths(config, 6);
  const namedFolder = join(config.state, "named");
  const zones = join(namedFolder, "zones");
  const key = join(namedFolder, "rndc.key");
  return {
    state: config.state,
    socket: statusSocketPath(config.state),
    dhcpd,
    dhcpd6,
    omapi: config.dhcpd.omapi === null ? null : { ...config.dhcpd.omapi, keyFile: join(dirname(dhcpd.config), "omapi.key") },
    named: {
      program: config.named.program,
      conf: join(namedFolder, "named.conf"),
      zones,
      log: join(config.state, "named.log"),
      key,
      running: join(namedFolder, "running.json"),
      port: config.named.port,
      controlPort: config.named.control_port,
    },
    namedConf: { directory: namedFolder, zones, key },
    services: join(config.state, "services"),
    folders:
      config.mode === "observe"
        ? [config.state]
        : [config.state, dirname(dhcpd.config), dirname(dhcpd6.config), namedFolder, zones],
  };
}

/** Each family's dhcpd has a folder and a log of its own. */
export function dhcpdPaths(
  { state, dhcpd }: { readonly state: string; readonly dhcpd: Pick<AgentConfig["dhcpd"], "program" | "leases"> },
  family: 4 | 6,
): DhcpdPaths {
  const name = family === 4 ? "dhcpd" : "dhcpd6";
  const configured = family === 4 ? dhcpd.leases : null;
  return {
    program: dhcpd.program,
    config: join(state, name, `${name}.conf`),
    leases: configured ?? join(state, name, `${name}.leases`),
    log: join(state, `${name}.log`),
  };
}
