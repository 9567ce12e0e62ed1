import type { Command } from "commander";
import { machineViewSchema, type MachineView } from "@berth/core";
import { changePath, withDryRun, type ChangeFlags } from "../arguments/dry-run.js";
import type { CliContext } from "../cli-context.js";
import { formatFields } from "../output/table.js";

const REFERENCE = "id, name or NIC";

/** Commands that change what is known of a machine and leave its addresses. */
export function machineChangeCommands(machine: Command, context: CliContext): void {
  enlistCommand(machine, context);
  const change = async (reference: string, body: object, flags: ChangeFlags): Promise<void> => {
    const client = await context.connect();
    const path = changePath(context, flags, "machines", reference);
    const changed = await client.call({ method: "PATCH", path, body, answer: machineViewSchema });
    context.show(changed, changedText);
  };
  const rename = machine
    .command("rename")
    .description("give a machine another name; its addresses stay")
    .argument("<machine>", REFERENCE)
    .argument("[name]", "the new name, without domain (default: the pre-made names of its addresses)");
  withDryRun(rename).action((reference: string, name: string | undefined, flags: ChangeFlags) =>
    change(reference, { name: name ?? null }, flags),
  );
  const add = machine
    .command("add-nic")
    .description("add NICs to a machine; its own addresses are served to them too (a bond)")
    .argument("<machine>", REFERENCE)
    .argument("<nic...>", "hardware addresses");
  withDryRun(add).action((reference: string, nics: readonly string[], flags: ChangeFlags) =>
    change(reference, { addNics: nics }, flags),
  );
  const remove = machine
    .command("remove-nic")
    .description("take NICs away from a machine; its addresses stay")
    .argument("<machine>", REFERENCE)
    .argument("<nic...>", "hardware addresses");
  withDryRun(remove).action((reference: string, nics: readonly string[], flags: ChangeFlags) =>
    change(reference, { removeNics: nics }, flags),
  );
}

function enlistCommand(machine: Command, context: CliContext): void {
  const enlist = machine
    .command("enlist")
    .description("write a machine down without giving it an address yet")
    .argument("<nic...>", "hardware addresses of its NICs")
    .option("--name <name>", "the name it shall have when it is enrolled");
  withDryRun(enlist).action(async (nics: readonly string[], flags: ChangeFlags & { readonly name?: string }) => {
    const client = await context.connect();
    const body = { nics, name: flags.name };
    const path = changePath(context, flags, "machines", "enlist");
    const enlisted = await client.call({ method: "POST", path, body, answer: machineViewSchema });
    context.show(enlisted, changedText);
  });
}

function changedText({ addresses, id, name, nics, state }: MachineView): string {
  return formatFields([
    ["Machine", `${name ?? addresses[0]?.name ?? id ?? ""}, ${state}`],
    ["Id", id ?? ""],
    ["NICs", nics.join(", ")],
    ...addresses.map((held): [string, string] => ["Address", `${held.address} in ${held.subnet}, ${held.name}, ${held.kind}`]),
  ]);
}
