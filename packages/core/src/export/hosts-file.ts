import type { ExportedMachine } from "./exported-machine.js";

/**
 * Lines for /etc/hosts (hosts(5)), one an address, with the short name behind the full one where only one address has it.
 */
export function hostsFile(machines: readonly ExportedMachine[]): string {
  const addresses = machines.flatMap((machine) => machine.addresses);
  const uses = new Map<string, number>();
  for (const { name } of addresses) uses.set(shortName(name), (uses.get(shortName(name)) ?? 0) + 1);
  return addresses
    .map(({ address, name }) => {
      const short = shortName(name);
      return `${address}\t${name}${uses.get(short) === 1 && short !== name ? ` ${short}` : ""}\n`;
    })
    .join("");
}

function shortName(name: string): string {
  return name.split(".", 1)[0] ?? "";
}
