import type { Command } from "commander";
import { rackApiViewSchema, type RackApiView } from "@berth/core";
import type { CliContext } from "../cli-context.js";
import { apiPath } from "../connection/api-client.js";
import { formatAge } from "../output/age.js";
import { formatFields, formatTable, type Column } from "../output/table.js";

export function rackCommands(program: Command, context: CliContext): void {
  const rack = program.command("rack").description("hosts whose agent has joined");
  rack
    .command("list")
    .description("list racks: connected or silent, and whether they run what they must")
    .action(async () => {
      const client = await context.connect();
      const racks = await client.list("/racks", {}, rackApiViewSchema);
      context.showList(racks, { columns: columns(context.ports.now()), empty: "no racks" });
    });
  rack
    .command("show")
    .description("show one rack: addresses, daemons, problems")
    .argument("<rack>", "name or id")
    .action(async (reference: string) => {
      const client = await context.connect();
      const found = await client.call({ path: apiPath("racks", reference), answer: rackApiViewSchema });
      context.show(found, (view) => rackText(view, context.ports.now()));
    });
  rack
    .command("remove")
    .description("forget a rack: its facts and its right to connect; its daemons go on until somebody stops them")
    .argument("<rack>", "name or id")
    .action(async (reference: string) => {
      const client = await context.connect();
      const removed = await client.call({ method: "DELETE", path: apiPath("racks", reference), answer: rackApiViewSchema });
      context.show(removed, ({ id, name }) => `removed rack ${name}, ${id}\n`);
    });
}

function columns(nowMs: number): readonly Column<RackApiView>[] {
  return [
    { title: "NAME", cell: ({ name }) => name },
    { title: "SITE", cell: ({ site }) => site },
    { title: "STATE", cell: rackState },
    { title: "ADDRESSES", cell: ({ addresses }) => addresses.map(({ address }) => address).join(",") },
    { title: "DHCPD", cell: (rack) => daemonState(rack, "dhcpd") },
    { title: "NAMED", cell: (rack) => daemonState(rack, "named") },
    { title: "GENERATION", cell: generationText },
    { title: "LEASES", cell: ({ leasesInUse }) => String(leasesInUse) },
    { title: "PROBLEMS", cell: (rack) => String(allProblems(rack).length) },
    { title: "SEEN", cell: ({ lastSeenAt }) => formatAge(lastSeenAt, nowMs) },
  ];
}

function rackState({ connected, lastSeenAt }: RackApiView): string {
  if (connected) return "connected";
  return lastSeenAt === null ? "joined" : "silent";
}

function daemonState({ daemons }: RackApiView, name: string): string {
  return daemons.find((daemon) => daemon.name === name)?.state ?? "";
}

function generationText({ acceptedGeneration, desiredGeneration }: RackApiView): string {
  if (desiredGeneration === null || desiredGeneration === acceptedGeneration) return String(acceptedGeneration);
  return `${acceptedGeneration} of ${desiredGeneration}`;
}

function allProblems({ daemons, problems }: RackApiView) {
  return [
    ...problems.map((problem) => ({ source: "rack", ...problem })),
    ...daemons.flatMap((daemon) => daemon.problems.map((problem) => ({ source: daemon.name, ...problem }))),
  ];
}

function rackText(view: RackApiView, nowMs: number): string {
  const problems = allProblems(view);
  return [
    formatFields([
      ["Rack", view.name],
      ["Id", view.id],
      ["Site", view.site],
      ["State", rackState(view)],
      ["Seen", view.lastSeenAt === null ? "" : `${formatAge(view.lastSeenAt, nowMs)} ago, ${view.lastSeenAt}`],
      ["Joined", view.joinedAt],
      ["Generation", `${generationText(view)}, ${view.converged ? "converged" : "not converged"}`],
      ["Leases", `${view.leasesInUse} in use`],
      ...view.daemons.map((daemon): [string, string] => [daemon.name, daemon.state]),
      ...view.addresses.map((held): [string, string] => ["Address", `${held.address}/${held.prefixLength} on ${held.interface}`]),
      ["Problems", problems.length === 0 ? "none" : String(problems.length)],
    ]),
    problems.length === 0
      ? ""
      : `\n${formatTable(problems, [
          { title: "SOURCE", cell: ({ source }) => source },
          { title: "CODE", cell: ({ code }) => code },
          { title: "AT", cell: ({ at }) => at },
          { title: "MESSAGE", cell: ({ message }) => message },
          { title: "REMEDY", cell: ({ remedy }) => remedy ?? "" },
        ])}`,
  ].join("");
}
