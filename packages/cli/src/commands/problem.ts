import type { Command } from "commander";
import { currentProblemSchema, type CurrentProblem } from "@berth/core";
import type { CliContext } from "../cli-context.js";
import { CliFailure, EXIT_REFUSED } from "../cli-failure.js";
import { formatAge } from "../output/age.js";
import type { Column } from "../output/table.js";

export function problemColumns(nowMs: number): readonly Column<CurrentProblem>[] {
  return [
    { title: "SOURCE", cell: ({ daemon, rack, source }) => [rack ?? source, daemon].filter((part) => part !== null).join("/") },
    { title: "CODE", cell: ({ code }) => code },
    { title: "AT", cell: ({ at }) => at },
    { title: "SINCE", cell: ({ since }) => formatAge(since, nowMs) },
    { title: "MESSAGE", cell: ({ message }) => message, below: "" },
    { title: "REMEDY", cell: ({ remedy }) => remedy ?? "", below: "remedy: " },
  ];
}

export function problemCommands(program: Command, context: CliContext): void {
  program
    .command("problem")
    .description("what is wrong now, in the region, on racks, their daemons, among racks and in the plan")
    .command("list")
    .description("list every problem that holds now; exits with 1 when there is one")
    .action(async () => {
      const client = await context.connect();
      const problems = await client.list("/problems", {}, currentProblemSchema);
      context.showList(problems, { columns: problemColumns(context.ports.now()), empty: "no problems" });
      if (problems.length > 0) throw new CliFailure(EXIT_REFUSED, []);
    });
}
