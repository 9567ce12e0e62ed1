import {
  createSupervisedDriver,
  createSystemdDriver,
  type Clock,
  type Commands,
  type Files,
  type ServiceDriver,
} from "@berth/host";
import type { AgentPaths } from "./agent-paths.js";
import type { AgentConfig } from "./config.js";

/** What starts and ends this rack's daemons. */
export function createDriver(
  config: Pick<AgentConfig, "driver">,
  paths: Pick<AgentPaths, "state" | "services">,
  ports: { readonly files: Files; readonly commands: Commands; readonly clock: Clock },
): ServiceDriver {
  return config.driver === "systemd"
    ? createSystemdDriver(paths.services, ports)
    : createSupervisedDriver(paths.state, ports.clock);
}
