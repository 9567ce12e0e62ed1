import {
  isUp,
  mergeByAddress,
  type AddressVerdict,
  type Classification,
  type HostInterface,
  type InterfaceAddress,
} from "@berth/core";

/** The stable JSON form of an inspection. */
export function inspectionJson(interfaces: readonly HostInterface[], judged: Classification): string {
  const byInterface = groupByInterface(judged.verdicts);
  return `${JSON.stringify(
    {
      interfaces: interfaces.map(interfaceJson),
      classify: Object.fromEntries(
        [...byInterface].map(([name, verdicts]) => [
          name,
          Object.fromEntries(
            [...mergeByAddress(verdicts)].map(([address, { class: kind, confidence, reasons }]) => [
              address,
              { class: kind, confidence, reasons },
            ]),
          ),
        ]),
      ),
      publish: judged.publish,
      subnets: judged.networks,
      subnet_of: Object.fromEntries(judged.networkOf),
      problems: judged.problems,
    },
    null,
    2,
  )}\n`;
}

function interfaceJson(entry: HostInterface): Record<string, unknown> {
  return {
    name: entry.name,
    parent: entry.parent,
    vlan_id: entry.vlanId,
    hardware_address: entry.hardwareAddress,
    permanent_address: entry.permanentAddress,
    up: isUp(entry),
    addresses: entry.addresses.map(addressJson),
  };
}

function addressJson(address: InterfaceAddress): Record<string, unknown> {
  return {
    address: address.address,
    prefix_length: address.prefixLength,
    peer: address.peer,
    broadcast: address.broadcast,
    scope: address.scope,
    label: address.label,
    flags: address.flags,
    protocol: address.protocol,
    valid_lifetime: address.validLifetime,
    preferred_lifetime: address.preferredLifetime,
  };
}

/** A table for people: one line an address as the kernel has it, then what follows from it. */
export function inspectionText(interfaces: readonly HostInterface[], judged: Classification): string {
  const rows = judged.verdicts.map(({ interfaceName, observed, class: kind, confidence, reasons }) => [
    interfaceName,
    `${observed.address}/${observed.prefixLength}`,
    kind,
    confidence.toFixed(2),
    reasons.join("; "),
  ]);
  const down = interfaces.filter((entry) => !isUp(entry)).map((entry) => entry.name);
  return [
    table([["INTERFACE", "ADDRESS", "CLASS", "SURE", "WHY"], ...rows]),
    "",
    `published: ${judged.publish.join(", ") || "nothing"}`,
    `networks:  ${judged.networks.join(", ") || "none"}`,
    ...(down.length > 0 ? [`down:      ${down.map(printable).join(", ")}`] : []),
    "",
  ].join("\n");
}

function groupByInterface(verdicts: readonly AddressVerdict[]): ReadonlyMap<string, readonly AddressVerdict[]> {
  const groups = new Map<string, AddressVerdict[]>();
  for (const verdict of verdicts) {
    const group = groups.get(verdict.interfaceName);
    if (group === undefined) groups.set(verdict.interfaceName, [verdict]);
    else group.push(verdict);
  }
  return groups;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => printable(row[column] ?? "").length))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, column) => printable(cell).padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Labels and names come from a file or from whoever may name interfaces. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}
