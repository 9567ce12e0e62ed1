import { Option, type Command } from "commander";
import { dhcpModeSchema, subnetViewSchema, type SubnetView } from "@berth/core";
import { parseCount, parseDuration } from "../arguments/parse-duration.js";
import { collectRange, collectText, parseRange } from "../arguments/parse-range.js";
import { changePath, withDryRun, type ChangeFlags } from "../arguments/dry-run.js";
import { withDhcpOptions } from "../arguments/subnet-dhcp-options.js";
import { subnetChange, type SubnetOptions } from "../arguments/subnet-options.js";
import type { CliContext } from "../cli-context.js";
import { apiPath } from "../connection/api-client.js";
import { formatAge } from "../output/age.js";
import { formatFields, type Column } from "../output/table.js";

const REFERENCE = "number or prefix of the subnet";

export function subnetCommands(program: Command, context: CliContext): void {
  const subnet = program.command("subnet").description("networks that Berth serves");
  createCommand(subnet, context);
  setCommand(subnet, context);

  subnet
    .command("list")
    .description("list all subnets")
    .action(async () => {
      const client = await context.connect();
      context.showList(await client.list("/subnets", {}, subnetViewSchema), { columns: COLUMNS, empty: "no subnets" });
    });
  subnet
    .command("show")
    .description("show one subnet")
    .argument("<subnet>", REFERENCE)
    .action(async (reference: string) => {
      const client = await context.connect();
      const found = await client.call({ path: apiPath("subnets", reference), answer: subnetViewSchema });
      context.show(found, (view) => subnetText(view, context.ports.now()));
    });
  const remove = subnet
    .command("remove")
    .description("stop serving a subnet and forget it; refused while it has allocations")
    .argument("<subnet>", REFERENCE);
  withDryRun(remove).action(async (reference: string, flags: ChangeFlags) => {
    const client = await context.connect();
    const path = changePath(context, flags, "subnets", reference);
    const removed = await client.call({ method: "DELETE", path, answer: subnetViewSchema });
    context.show(removed, ({ id, prefix }) => `removed subnet ${id}, ${prefix}\n`);
  });
}

function createCommand(subnet: Command, context: CliContext): void {
  const create = subnet
    .command("create")
    .description(
      "declare a subnet\n\nWithout --mode, --window means mode window, one of --pool, --slice-length and --enlist-lease means link-local, and nothing means off.",
    )
    .argument("<prefix>", "network and length: 192.168.50.0/24")
    .requiredOption("--domain <name>", "domain of its machines' names")
    .option("--site <name>", "separates equal private prefixes (default: default)");
  withDryRun(withSubnetOptions(create)).action(async (prefix: string, options: SubnetOptions & ChangeFlags) => {
    const client = await context.connect();
    const { site } = options;
    const change = await subnetChange(options, context.ports);
    const body = { prefix, mode: impliedMode(options), ...(site === undefined ? {} : { site }), ...change };
    const created = await client.call({
      method: "POST",
      path: changePath(context, options, "subnets"),
      body,
      answer: subnetViewSchema,
    });
    context.show(created, ({ domain, id, mode }) => `declared subnet ${id}, ${created.prefix}, domain ${domain}, mode ${mode}\n`);
  });
}

function setCommand(subnet: Command, context: CliContext): void {
  const set = subnet
    .command("set")
    .description("change what is named and leave the rest; 'none' clears a gateway, a window or servers")
    .argument("<subnet>", REFERENCE)
    .option("--domain <name>", "domain of its machines' names");
  withDryRun(withSubnetOptions(set)).action(async (reference: string, options: SubnetOptions & ChangeFlags) => {
    const body = await subnetChange(options, context.ports);
    if (Object.keys(body).length === 0) set.error("error: nothing to change: name at least one option");
    const client = await context.connect();
    const path = changePath(context, options, "subnets", reference);
    const changed = await client.call({ method: "PATCH", path, body, answer: subnetViewSchema });
    context.show(changed, (view) => subnetText(view, context.ports.now()));
  });
}

function withSubnetOptions(command: Command): Command {
  return withDhcpOptions(command)
    .option("--gateway <address>", "router of the network")
    .addOption(
      new Option(
        "--mode <mode>",
        "off: no DHCP; observe: watch another server's leases; static: known machines only; window: a dynamic window inside the prefix; link-local: an enlistment pool beside the prefix",
      ).choices(dhcpModeSchema.options),
    )
    .option("--window <first-last>", "dynamic addresses of mode window", (text) => (text === "none" ? "none" : parseRange(text)))
    .option("--reserve <first-last>", "addresses that are never given out; may be repeated", collectRange)
    .option("--lease-time <duration>", "of leases in the window: 10m, 1h, ...", parseDuration)
    .option("--max-lease-time <duration>", "the longest lease a client may ask for", parseDuration)
    .option("--pool <prefix>", "enlistment pool of mode link-local")
    .option("--slice-length <length>", "prefix length of each rack link's slice of that pool", parseCount)
    .option("--enlist-lease <duration>", "of leases in that pool", parseDuration)
    .option("--dns <address>", "pins the DNS servers of the network; may be repeated", collectText)
    .option("--ntp <address>", "pins its time servers; may be repeated", collectText);
}

function impliedMode({ enlistLease, mode, pool, sliceLength, window }: SubnetOptions): string {
  if (mode !== undefined) return mode;
  if (window !== undefined && window !== "none") return "window";
  return pool !== undefined || sliceLength !== undefined || enlistLease !== undefined ? "link-local" : "off";
}

const COLUMNS: readonly Column<SubnetView>[] = [
  { title: "ID", cell: ({ id }) => String(id) },
  { title: "PREFIX", cell: ({ prefix }) => prefix },
  { title: "SITE", cell: ({ site }) => site },
  { title: "DOMAIN", cell: ({ domain }) => domain },
  { title: "GATEWAY", cell: ({ gateway }) => gateway ?? "" },
  { title: "MODE", cell: ({ mode }) => mode },
  { title: "DYNAMIC", cell: dynamicText },
  { title: "ALLOCATED", cell: ({ allocations }) => String(allocations) },
  { title: "RACKS", cell: ({ racks }) => racks.join(",") },
];

function dynamicText({ enlistment, mode, window }: SubnetView): string {
  if (mode === "window" && window !== null) return rangeText(window);
  return mode === "link-local" && enlistment !== null ? enlistment.pool : "";
}

function rangeText({ first, last }: { readonly first: string; readonly last: string }): string {
  return `${first}-${last}`;
}

function subnetText(view: SubnetView, nowMs: number): string {
  const { enlistment } = view;
  return formatFields([
    ["Subnet", `${view.id}, ${view.prefix}`],
    ["Site", view.site],
    ["Domain", view.domain],
    ["Gateway", view.gateway ?? ""],
    ["Mode", view.mode],
    ["Window", view.window === null ? "" : rangeText(view.window)],
    [
      "Enlistment",
      enlistment === null ? "" : `${enlistment.pool}, a /${enlistment.sliceLength} a link, leases of ${enlistment.leaseTime} s`,
    ],
    ["Reserved", view.reserved.map(rangeText).join(", ")],
    ["DNS", view.dns === null ? "decided from the topology" : view.dns.join(", ")],
    ["NTP", view.ntp === null ? "decided from the topology" : view.ntp.join(", ")],
    ["Lease time", `${view.leaseTime} s, at most ${view.maxLeaseTime} s`],
    ["DHCP", view.dhcp === null ? "" : dhcpText(view.dhcp)],
    ["Allocated", `${view.allocations}, ${view.quarantined} released ones rest`],
    ["Racks", view.racks.join(", ")],
    ["Age", formatAge(view.createdAt, nowMs)],
  ]);
}

/** One line: everything but a snippet's text is short. */
function dhcpText(dhcp: NonNullable<SubnetView["dhcp"]>): string {
  return Object.entries(dhcp)
    .map(([name, value]) => (name === "snippet" ? `${name} of ${lineCount(String(value))}` : `${name} ${JSON.stringify(value)}`))
    .join(", ");
}

function lineCount(text: string): string {
  const lines = text.trimEnd().split("\n").length;
  return `${lines} ${lines === 1 ? "line" : "lines"}`;
}
