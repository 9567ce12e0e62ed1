import { Option, type Command } from "commander";
import {
  allocatedManyViewSchema,
  allocatedViewSchema,
  allocationViewSchema,
  deliverySchema,
  type AllocatedManyView,
  type AllocatedView,
  printable,
} from "@berth/core";
import { changePath, withDryRun, type ChangeFlags } from "../arguments/dry-run.js";
import { CliFailure, EXIT_USAGE, environmentFailure } from "../cli-failure.js";
import type { CliContext } from "../cli-context.js";
import { formatFields } from "../output/table.js";
import { warningFields } from "../output/warning-fields.js";

interface CreateFlags extends ChangeFlags {
  readonly own?: boolean;
  readonly subnet?: string;
  readonly address?: string;
  readonly name?: string;
  readonly key?: string;
  readonly delivery?: string;
  readonly nic?: string;
}

/** Commands that give addresses to known machines and take them back. */
export function allocationChangeCommands(allocation: Command, context: CliContext): void {
  createCommand(allocation, context);
  bulkCommand(allocation, context);
  const release = allocation
    .command("release")
    .description("give an additional address or a whole VIP back; it rests before anybody else gets it")
    .argument("<allocation>", "id, address or full name");
  withDryRun(release).action(async (reference: string, flags: ChangeFlags) => {
    const client = await context.connect();
    const path = changePath(context, flags, "allocations", reference);
    const released = await client.call({ method: "DELETE", path, answer: allocationViewSchema });
    context.show(released, ({ address, name }) => `released ${address}, ${name}\n`);
  });
}

function createCommand(allocation: Command, context: CliContext): void {
  const create = allocation
    .command("create")
    .description("give an enrolled machine one more address (its containers'), in one call")
    .argument("<machine>", "id, name or NIC")
    .option("--own", "its own address in one more subnet, served to its NICs, instead of an additional one")
    .option("--subnet <subnet>", "number or prefix (default: the machine's)")
    .option("--address <address>", "exactly this address (default: the coordinator chooses)")
    .option("--name <name>", "its name (default: the pre-made name of the address)")
    .option("--key <key>", "your key for it: the same key answers the same address")
    .addOption(new Option("--delivery <how>", "who gives it to the machine (default: config)").choices(deliverySchema.options))
    .option("--nic <nic>", "the NIC that DHCP serves it to");
  withDryRun(create).action(async (machine: string, flags: CreateFlags) => {
    const { address, delivery, key, name, nic, own, subnet } = flags;
    const extra = { name, key, delivery, nic };
    if (own === true && Object.values(extra).some((value) => value !== undefined))
      create.error("error: with --own only --subnet and --address may stand");
    const client = await context.connect();
    const path = changePath(context, flags, "allocations");
    const body = { kind: own === true ? "machine" : "additional", machine, subnet, address, ...(own === true ? {} : extra) };
    const made = await client.call({ method: "POST", path, body, answer: allocatedViewSchema });
    context.show(made, allocationText);
  });
}

function bulkCommand(allocation: Command, context: CliContext): void {
  const bulk = allocation
    .command("bulk")
    .description('give many addresses, all or none\n\nThe file holds {"items": [...]} as POST /allocations/bulk takes it.')
    .argument("<file>", "JSON file");
  withDryRun(bulk).action(async (file: string, flags: ChangeFlags) => {
    const body = parseItems(await readText(context, file), file);
    const client = await context.connect();
    const path = changePath(context, flags, "allocations", "bulk");
    const made = await client.call({ method: "POST", path, body, answer: allocatedManyViewSchema });
    context.show(made, bulkText);
  });
}

async function readText(context: CliContext, file: string): Promise<string> {
  try {
    return await context.ports.readFile(file);
  } catch (cause) {
    throw environmentFailure({ code: "file-unreadable", at: file, message: "the file cannot be read" }, cause);
  }
}

function parseItems(text: string, file: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CliFailure(EXIT_USAGE, [{ code: "file-malformed", at: file, message }], cause);
  }
}

function allocationText({ allocation, created, warnings }: AllocatedView): string {
  const { address, id, kind, name, subnet } = allocation;
  return formatFields([
    ["Address", `${address} in ${subnet}, ${kind}${created ? "" : ", given before"}`],
    ["Name", name],
    ["Id", id],
    ...warningFields(warnings),
  ]);
}

function bulkText({ items }: AllocatedManyView): string {
  return items
    .map(({ allocation: { address, name }, created, warnings = [] }) => {
      const warned = warnings.map(({ message }) => `  warning: ${printable(message)}\n`).join("");
      return `${address} ${name}${created ? "" : " (given before)"}\n${warned}`;
    })
    .join("");
}
