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
    .description("show one rack: links, addresses and how each was judged, daemons, problems")
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
    { title: "SITE", cell: ({ site }) => site, wide: true },
    { title: "STATE", cell: rackState },
    { title: "ADDRESSES", cell: ({ addresses }) => addressesOf(addresses, "real").join(",") },
    { title: "VIPS", cell: ({ addresses }) => addressesOf(addresses, "vip").join(","), wide: true },
    { title: "SUBNETS", cell: ({ subnets }) => subnets.map(({ prefix }) => prefix).join(",") },
    { title: "DHCPD", cell: (rack) => daemonState(rack, "dhcpd") },
    { title: "DHCPD6", cell: (rack) => daemonState(rack, "dhcpd6"), wide: true },
    { title: "NAMED", cell: (rack) => daemonState(rack, "named") },
    { title: "GENERATION", cell: generationText, wide: true },
    { title: "LEASES", cell: ({ leasesInUse }) => String(leasesInUse) },
    { title: "PROBLEMS", cell: (rack) => String(allProblems(rack).length) },
    { title: "SEEN", cell: ({ lastSeenAt }) => formatAge(lastSeenAt, nowMs) },
  ];
}

function rackState({ connected, lastSeenAt, stale }: RackApiView): string {
  if (connected) return "connected";
  if (stale) return "stale";
  return lastSeenAt === null ? "joined" : "silent";
}

function addressesOf(addresses: RackApiView["addresses"], kind: string): readonly string[] {
  return [...new Set(addresses.filter((entry) => entry.class === kind).map(({ address }) => address))];
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
      ["Subnets", view.subnets.map(({ prefix }) => prefix).join(", ")],
      ["Problems", problems.length === 0 ? "none" : String(problems.length)],
    ]),
    view.links.length === 0 ? "" : `\n${formatTable(view.links, LINK_COLUMNS)}`,
    view.addresses.length === 0 ? "" : `\n${formatTable(view.addresses, addressColumns(nowMs))}`,
    problems.length === 0 ? "" : `\n${formatTable(problems, OWN_PROBLEM_COLUMNS)}`,
  ].join("");
}

const OWN_PROBLEM_COLUMNS: readonly Column<ReturnType<typeof allProblems>[number]>[] = [
  { title: "SOURCE", cell: ({ source }) => source },
  { title: "CODE", cell: ({ code }) => code },
  { title: "AT", cell: ({ at }) => at },
  { title: "MESSAGE", cell: ({ message }) => message, below: "" },
  { title: "REMEDY", cell: ({ remedy }) => remedy ?? "", below: "remedy: " },
];

const LINK_COLUMNS: readonly Column<RackApiView["links"][number]>[] = [
  { title: "LINK", cell: ({ name }) => name },
  { title: "STATE", cell: ({ up }) => (up ? "up" : "down") },
  { title: "KIND", cell: ({ kind, vlanId }) => [kind, vlanId].filter((part) => part !== null).join(" ") },
  { title: "PARENT", cell: ({ parent }) => parent ?? "" },
  { title: "HARDWARE-ADDRESS", cell: ({ hardwareAddress }) => hardwareAddress ?? "" },
];

function addressColumns(nowMs: number): readonly Column<RackApiView["addresses"][number]>[] {
  return [
    { title: "ADDRESS", cell: ({ address, prefixLength }) => `${address}/${prefixLength}` },
    { title: "ON", cell: ({ interface: on }) => on },
    { title: "CLASS", cell: ({ class: kind }) => kind },
    { title: "SURE", cell: ({ confidence }) => confidence.toFixed(2) },
    { title: "PUBLISHED", cell: ({ published }) => (published ? "yes" : "no") },
    { title: "SINCE", cell: ({ since }) => formatAge(since, nowMs) },
    { title: "WHY", cell: ({ reasons }) => reasons.join("; ") },
  ];
}
