import { failoverName, formatProblem, type Problem } from "@berth/core";
import { InvalidArgumentError, type Command } from "commander";
import { agentPaths } from "../agent-paths.js";
import { createOmapiClient } from "../omapi/omapi-client.js";
import { ensureOmapiKey } from "../omapi/omapi-key.js";
import type { AgentCliPorts } from "./agent-cli-ports.js";
import { DEFAULT_CONFIG, requireConfig } from "./run.js";

/**
 * Adds `berth-agent partner-down`: the operator's word that the other rack of a failover pair is down for good, so that this one gives its addresses
 * too (after mclt). Nothing else may say so: a partner that only cannot be reached goes on giving.
 */
export function registerPartnerDown(program: Command, ports: AgentCliPorts): void {
  program
    .command("partner-down")
    .description("tell this rack's dhcpd that the other rack of a failover pair is down, so that it gives the whole window")
    .argument("<subnet>", "number of the subnet whose window they share", subnetNumber)
    .option("--config <file>", "configuration file", DEFAULT_CONFIG)
    .action(async (subnet: number, { config: path }: { readonly config: string }) => {
      const config = await requireConfig(path, ports);
      if (config === null) return;
      const { omapi } = agentPaths(config);
      const told = omapi === null ? OMAPI_OFF : await tellDhcpd(subnet, { ...omapi, ports });
      if (typeof told === "string") ports.stdout(`${told}\n`);
      else ports.stderr(`${formatProblem(told)}\n`);
      ports.exitWith(typeof told === "string" ? 0 : 1);
    });
}

const OMAPI_OFF: Problem = {
  code: "omapi-off",
  at: "dhcpd.omapi",
  message: "dhcpd takes no word while it runs, because OMAPI is off",
  remedy: "set dhcpd.omapi.port in the agent's configuration and start the agent anew",
};

async function tellDhcpd(
  subnet: number,
  { port, keyFile, ports }: { readonly port: number; readonly keyFile: string; readonly ports: AgentCliPorts },
): Promise<string | Problem> {
  const name = failoverName(subnet);
  const client = createOmapiClient({ port, secret: await ensureOmapiKey(ports.files, keyFile) }, ports.clock);
  const before = await client.failoverState(name);
  if (!before.ok) return before.problems[0] ?? OMAPI_OFF;
  const { localState } = before.value;
  if (localState === "partner-down") return `the partner of subnet ${subnet} was said to be down before`;
  if (localState !== "communications-interrupted") {
    const message = `this rack is in state ${localState}: only one that lost its partner may be told that it is down`;
    return { code: "partner-not-lost", at: `subnet ${subnet}`, message, remedy: "look at the partner with `berth rack list`" };
  }
  const after = await client.setPartnerDown(name);
  if (!after.ok) return after.problems[0] ?? OMAPI_OFF;
  return `subnet ${subnet}: ${after.value.localState}; the partner's free addresses follow once its last leases could have ended`;
}

function subnetNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write the number that `berth subnet list` shows.");
}
