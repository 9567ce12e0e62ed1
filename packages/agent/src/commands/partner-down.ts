import { DesiredDigests, failoverName, formatProblem, parseIpPrefix, type IpPrefix, type Problem } from "@berth/core";
import { sha256 } from "@berth/host";
import { InvalidArgumentError, type Command } from "commander";
import { agentPaths } from "../agent-paths.js";
import { openDesiredFiles } from "../desired/desired-files.js";
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
    .argument("<subnet>", "number or prefix of the subnet whose window they share", subnetName)
    .option("--config <file>", "configuration file", DEFAULT_CONFIG)
    .action(async (subnet: SubnetName, { config: path }: { readonly config: string }) => {
      const config = await requireConfig(path, ports);
      if (config === null) return;
      const { omapi } = agentPaths(config);
      const number = typeof subnet === "number" ? subnet : await numberOf(subnet, config.state, ports);
      const told =
        typeof number !== "number" ? number : omapi === null ? OMAPI_OFF : await tellDhcpd(number, { ...omapi, ports });
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

type SubnetName = number | IpPrefix;

function subnetName(text: string): SubnetName {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  const prefix = parseIpPrefix(text);
  if (prefix?.ok === true) return prefix.value;
  throw new InvalidArgumentError("Write the number that `berth subnet list` shows, or the prefix.");
}

/** From what this rack was last told: with a rack gone for good the region may be out of reach, too. */
async function numberOf(prefix: IpPrefix, stateDir: string, { files }: AgentCliPorts): Promise<number | Problem> {
  const { state } = await openDesiredFiles({ files, stateDir, digests: new DesiredDigests(sha256) });
  const shared = (state?.subnets ?? []).filter(({ failover }) => failover !== undefined);
  const subnet = shared.find((one) => one.prefix === prefix);
  if (subnet !== undefined) return subnet.id;
  const names = shared.map(({ id, prefix: known }) => `${id} (${known})`).join(", ");
  return {
    code: "no-failover-there",
    at: `subnet ${prefix}`,
    message: "this rack shares no window there with another",
    remedy: names === "" ? "nothing is to be done: no window of this rack is shared" : `it shares those of ${names}`,
  };
}
