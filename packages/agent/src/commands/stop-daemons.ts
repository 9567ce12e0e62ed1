import { silentLog } from "@berth/host";
import type { Command } from "commander";
import { readStatus } from "../status/status-socket.js";
import { agentPaths } from "../agent-paths.js";
import { createDriver } from "../create-driver.js";
import { createEnlistmentLinks } from "../reconcile/enlistment.js";
import type { AgentCliPorts } from "./agent-cli-ports.js";
import { DEFAULT_CONFIG, requireConfig } from "./run.js";

/** Adds `berth-agent stop-daemons`: takes the rack out of service. They outlive the agent on purpose, so ending them is a command of its own. */
export function registerStopDaemons(program: Command, ports: AgentCliPorts): void {
  program
    .command("stop-daemons")
    .description("end the dhcpd and named that an agent left serving, and take its enlistment addresses away")
    .option("--config <file>", "configuration file", DEFAULT_CONFIG)
    .action(async ({ config: path }: { readonly config: string }) => {
      const config = await requireConfig(path, ports);
      if (config === null) return;
      const paths = agentPaths(config);
      if ((await readStatus(paths.socket)) !== null) {
        ports.stderr(
          `error: ${paths.state}: the agent runs and would start them again [agent-running]\n  remedy: stop the agent first\n`,
        );
        ports.exitWith(1);
        return;
      }
      const driver = createDriver(config, paths, ports);
      for (const name of ["dhcpd", "dhcpd6", "named"]) await driver.stop(name);
      await createEnlistmentLinks({ ...ports, log: silentLog, stateDir: paths.state, isPresent: () => false }).ensure([]);
      ports.stdout("dhcpd and named are stopped\n");
    });
}
