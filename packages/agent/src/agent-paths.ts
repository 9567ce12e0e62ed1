import { join } from "node:path";
import type { NamedConfPaths, OmapiSettings } from "@berth/core";
import type { AgentConfig } from "./config.js";
import type { DhcpdPaths } from "./reconcile/dhcpd.js";
import type { NamedPaths } from "./reconcile/named-activation.js";
import { statusSocketPath } from "./status/status-socket.js";

/** Every place on disk that the agent uses, from its configuration. */
export interface AgentPaths {
  readonly state: string;
  readonly socket: string;
  readonly dhcpd: DhcpdPaths;
  /** Null: OMAPI is off. */
  readonly omapi: OmapiSettings | null;
  readonly named: NamedPaths;
  readonly namedConf: NamedConfPaths;
  /** Folders to make before anything else. */
  readonly folders: readonly string[];
}

export function agentPaths(config: AgentConfig): AgentPaths {
  const dhcpdFolder = join(config.state, "dhcpd");
  const namedFolder = join(config.state, "named");
  const zones = join(namedFolder, "zones");
  const key = join(namedFolder, "rndc.key");
  return {
    state: config.state,
    socket: statusSocketPath(config.state),
    dhcpd: {
      program: config.dhcpd.program,
      config: join(dhcpdFolder, "dhcpd.conf"),
      leases: config.dhcpd.leases ?? join(dhcpdFolder, "dhcpd.leases"),
      log: join(config.state, "dhcpd.log"),
    },
    omapi: config.dhcpd.omapi === null ? null : { ...config.dhcpd.omapi, keyFile: join(dhcpdFolder, "omapi.key") },
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
    folders: [config.state, dhcpdFolder, namedFolder, zones],
  };
}
