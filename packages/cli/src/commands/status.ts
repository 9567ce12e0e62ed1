import type { Command } from "commander";
import { statusViewSchema, type StatusView } from "@berth/core";
import type { CliContext } from "../cli-context.js";
import { formatFields, formatTable } from "../output/table.js";
import { problemColumns } from "./problem.js";

const PROBLEMS_SHOWN = 10;

export function statusCommand(program: Command, context: CliContext): void {
  program
    .command("status")
    .description("the region on one screen: racks, subnets, machines, leases and what is wrong")
    .action(async () => {
      const client = await context.connect();
      context.show(await client.call({ path: "/status", answer: statusViewSchema }), (status) =>
        statusText(status, context.ports.now()),
      );
    });
}

function statusText(status: StatusView, nowMs: number): string {
  const { machines, problems, racks } = status;
  const shown = problems.slice(0, PROBLEMS_SHOWN);
  const hidden = problems.length - shown.length;
  return [
    formatFields([
      ["Coordinator", `version ${status.version}, revision ${status.revision}, ${status.now}`],
      ["Racks", `${racks.all}, of which ${racks.connected} connected, ${racks.converged} running what they must`],
      ["Subnets", String(status.subnets)],
      [
        "Machines",
        `${machines.enrolled} enrolled, ${machines.enlisted} enlisted, ${machines.sighted} sighted, ${machines.released} released`,
      ],
      ["Addresses", `${status.allocations} allocated, ${status.leasesInUse} leases in use`],
      ["Problems", problems.length === 0 ? "none" : String(problems.length)],
    ]),
    shown.length === 0 ? "" : `\n${formatTable(shown, problemColumns(nowMs))}`,
    hidden === 0 ? "" : `and ${hidden} more: see 'berth problem list'\n`,
  ].join("");
}
