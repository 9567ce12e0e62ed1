import type { Command } from "commander";
import { allocatedViewSchema, allocationViewSchema, type AllocationView, type Problem } from "@berth/core";
import { changePath, withDryRun, type ChangeFlags } from "../arguments/dry-run.js";
import type { CliContext } from "../cli-context.js";
import { formatFields } from "../output/table.js";
import { warningFields } from "../output/warning-fields.js";

interface VipFlags extends ChangeFlags {
  readonly subnet?: string;
  readonly address?: string;
  readonly name?: string;
  readonly key?: string;
}

const VIP = "id, address, name or key of the VIP";
const MACHINE = "id, name or NIC";

/** Commands about who owns a virtual address, which the ledger says; who holds it now is what racks see. */
export function vipOwnerCommands(vip: Command, context: CliContext): void {
  const create = vip
    .command("create")
    .description("give an address to several machines together; it is freed with its last owner")
    .argument("<machine...>", "its owners, by id, name or NIC")
    .option("--subnet <subnet>", "number or prefix (default: that of the first owner)")
    .option("--address <address>", "exactly this address (default: the coordinator chooses)")
    .option("--name <name>", "its name (default: the pre-made name of its address)")
    .option("--key <key>", "the owners' key for it: whoever repeats it gets the same address and becomes an owner");
  withDryRun(create).action(async (owners: readonly string[], flags: VipFlags) => {
    const client = await context.connect();
    const { address, key, name, subnet } = flags;
    const path = changePath(context, flags, "vips");
    const body = { owners, subnet, address, name, key };
    const made = await client.call({ method: "POST", path, body, answer: allocatedViewSchema });
    context.show(made, ({ allocation, created, warnings }) =>
      vipText(allocation, created ? "created" : "already there", warnings),
    );
  });
  const add = vip
    .command("add-owner")
    .description("let one more machine own a VIP")
    .argument("<vip>", VIP)
    .argument("<machine>", MACHINE);
  withDryRun(add).action(async (reference: string, machine: string, flags: ChangeFlags) => {
    const client = await context.connect();
    const path = changePath(context, flags, "vips", reference, "owners");
    const changed = await client.call({ method: "POST", path, body: { machine }, answer: allocationViewSchema });
    context.show(changed, (view) => vipText(view, "owned"));
  });
  const remove = vip
    .command("remove-owner")
    .description("take a machine off a VIP; with the last owner the address is freed and rests")
    .argument("<vip>", VIP)
    .argument("<machine>", MACHINE);
  withDryRun(remove).action(async (reference: string, machine: string, flags: ChangeFlags) => {
    const client = await context.connect();
    const path = changePath(context, flags, "vips", reference, "owners", machine);
    const changed = await client.call({ method: "DELETE", path, answer: allocationViewSchema });
    context.show(changed, (view) => vipText(view, view.owners.length === 0 ? "freed" : "owned"));
  });
}

function vipText({ address, id, name, owners, subnet }: AllocationView, state: string, warnings?: readonly Problem[]): string {
  return formatFields([
    ["VIP", `${address} in ${subnet}, ${state}`],
    ["Name", name],
    ["Owners", owners.join(", ")],
    ["Id", id],
    ...warningFields(warnings),
  ]);
}
