import { formatProblem } from "@berth/core";
import { EnvironmentError } from "@berth/host";
import { Option, type Command } from "commander";
import type { AgentStatus } from "../status/agent-status.js";
import { readStatus, statusSocketPath } from "../status/status-socket.js";
import type { AgentCliPorts } from "./agent-cli-ports.js";
import { leasesStatusText } from "./leases-status.js";

/** Where an agent keeps its state unless configured. */
export const DEFAULT_STATE = "/var/lib/berth-agent";

interface StatusOptions {
  readonly state: string;
  readonly output: "text" | "json";
  readonly json?: true;
}

/** Adds `berth-agent status`: what the running agent says of itself. Status 1 when anything is not as it should be. */
export function registerStatus(program: Command, ports: AgentCliPorts): void {
  program
    .command("status")
    .description("show what the running agent accepted, wrote and runs; status 1 when something is wrong")
    .option("--state <dir>", "the agent's state folder", DEFAULT_STATE)
    .addOption(new Option("-o, --output <form>", "form of the output").choices(["text", "json"]).default("text"))
    .option("--json", "short for -o json")
    .action(async (options: StatusOptions) => {
      const status = (await readStatus(statusSocketPath(options.state))) as AgentStatus | null;
      if (status === null) {
        throw new EnvironmentError("agent-not-running", options.state, "no agent runs on this state folder", {
          remedy: "start it: berth-agent run --config FILE",
        });
      }
      ports.stdout(options.json === true || options.output === "json" ? `${JSON.stringify(status)}\n` : statusText(status));
      ports.exitWith(isWell(status) ? 0 : 1);
    });
}

function isWell({ daemons, problems, link }: AgentStatus): boolean {
  return (
    link.state === "connected" && problems.length === 0 && daemons.every(({ state }) => state === "converged" || state === "off")
  );
}

function statusText(status: AgentStatus): string {
  const { link, leases, leases6, daemons } = status;
  const region = link.region === null ? "" : ` ${link.region}`;
  const lines = [
    `rack        ${status.name} (${status.rack})`,
    `agent       ${status.version}, pid ${status.pid}`,
    `region      ${link.state}${region}${link.problem === null ? "" : `: ${link.problem.message}`}`,
    `desired     ${status.accepted === 0 ? "nothing yet" : `generation ${status.accepted}`}`,
    ...daemons.flatMap(({ name, state, generation }) => [
      `${name.padEnd(11)} ${state}${generation === null ? "" : `, generation ${generation}`}`,
      ...lastActivations(status, name),
    ]),
    ...(daemons.length === 0 ? ["daemons     none: this agent only observes"] : []),
    `leases      ${leasesStatusText(leases)}`,
    ...leases6Lines(leases6),
    `interfaces  ${status.interfaces.read ? status.interfaces.count : "not read yet"}`,
  ];
  const problems = [...daemons.flatMap((daemon) => daemon.problems), ...status.problems];
  return `${[...lines, ...problems.map((problem) => `problem     ${formatProblem(problem)}`)].join("\n")}\n`;
}

/** Nothing where IPv6 was never served, because there is no file of it. */
function leases6Lines(leases6: AgentStatus["leases6"]): string[] {
  if (leases6 === null) return [];
  return leases6.identity === null ? [] : [`leases6     ${leasesStatusText(leases6)}`];
}

/** How many of the last attempts are shown to people; JSON has all that are kept. */
const SHOWN = 3;

function lastActivations({ activations }: AgentStatus, name: string): string[] {
  const kept = activations.find(({ daemon }) => daemon === name)?.activations ?? [];
  return kept.slice(-SHOWN).map(({ at, step, outcome, tookMs, generation, problem }) => {
    const facts = [
      step,
      generation === null ? "" : `generation ${generation}`,
      outcome,
      tookMs === null ? "" : `${tookMs} ms`,
      problem?.code ?? "",
    ];
    return `            ${at} ${facts.filter((fact) => fact !== "").join(", ")}`;
  });
}
