import type { ExportedMachine } from "./exported-machine.js";

/** What a spreadsheet would run as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A CSV of all machines as `berth import csv` reads it (RFC 4180, CRLF): one line an address of kind `machine`. Pre-made names are left empty, so that they stay what they are.
 */
export function machinesCsv(machines: readonly ExportedMachine[]): string {
  const rows = machines.flatMap(({ addresses }) =>
    addresses
      .filter(({ kind }) => kind === "machine")
      .map(({ address, domain, name, nics, premade, subnet }) => [
        nics.join(" "),
        premade ? "" : name.slice(0, -domain.length - 1),
        address,
        subnet,
      ]),
  );
  return [["nic", "name", "address", "subnet"], ...rows].map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");
}

function csvCell(text: string): string {
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
