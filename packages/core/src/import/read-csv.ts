import { csvRecords, type CsvRecord } from "./csv-records.js";
import { RowCollector } from "./collect-rows.js";
import { shownText, type ImportOptions, type ImportReading } from "./import-row.js";

type Field = "nics" | "name" | "address" | "subnet";

/** Column titles that lists of machines have, in lower case with words joined by `_`. */
const TITLES: Readonly<Record<Field, readonly string[]>> = {
  nics: ["nic", "nics", "mac", "macs", "mac_address", "mac_addresses", "hardware_address", "hwaddr", "ethernet"],
  name: ["name", "host", "hostname", "host_name", "machine", "fqdn"],
  address: ["address", "ip", "ip_address", "ipv4", "ipv4_address", "ipv6", "ipv6_address", "fixed_address"],
  subnet: ["subnet", "prefix", "network", "cidr"],
};

const SEPARATORS = [",", ";", "\t"] as const;
const CELL_CHARACTERS_MAX = 2048;

/**
 * Machines from a CSV file whose first record names the columns: `nic` is needed, `name`, `address` and `subnet` are used where they are there,
 * others are passed over. The separator is the one that the first line has most of: comma, semicolon or tab. A cell of several NICs has blanks,
 * `|` or `+` between them, or semicolons where those separate no cells.
 */
export function readCsvMachines(text: string, options: ImportOptions): ImportReading {
  const collector = new RowCollector(options);
  const body = text.startsWith("\ufeff") ? text.slice(1) : text;
  const separator = separatorOf(body);
  let columns: ReadonlyMap<Field, number> | null = null;
  for (const record of csvRecords(body, separator)) {
    const at = `${options.file}:${record.line}`;
    if (columns === null) {
      columns = columnsOf(record);
      if (columns.has("nics")) continue;
      collector.refusals.push(noColumns(record, at));
      break;
    }
    if (collector.isFull) {
      collector.refuseRest(at);
      break;
    }
    addRecord(collector, record, { at, columns });
  }
  if (columns === null)
    collector.refusals.push({
      code: "csv-empty",
      at: options.file,
      message: "the file has no line",
      remedy: "its first line names the columns",
    });
  return collector.reading();
}

function addRecord(
  collector: RowCollector,
  { cells, damaged }: CsvRecord,
  { at, columns }: { readonly at: string; readonly columns: ReadonlyMap<Field, number> },
): void {
  if (damaged || cells.some((cell) => cell.length > CELL_CHARACTERS_MAX)) {
    const message = damaged
      ? "quotes are open or stand in the middle of a cell"
      : `a cell is longer than ${CELL_CHARACTERS_MAX} characters`;
    collector.refusals.push({
      code: "csv-malformed",
      at,
      message,
      remedy: 'quote whole cells, and double a quote inside: "a ""b"""',
    });
    return;
  }
  const cell = (field: Field): string | null => {
    const index = columns.get(field);
    const value = index === undefined ? "" : (cells[index] ?? "").trim();
    return value === "" ? null : value;
  };
  const nics = (cell("nics") ?? "").split(/[\s|+;]+/).filter((nic) => nic !== "");
  collector.add({ at, nics, name: cell("name"), address: cell("address"), subnet: cell("subnet") });
}

function columnsOf({ cells }: CsvRecord): ReadonlyMap<Field, number> {
  const found = new Map<Field, number>();
  for (const [index, cell] of cells.entries()) {
    const title = cell
      .trim()
      .toLowerCase()
      .replace(/[\s-]+/g, "_");
    for (const field of ["nics", "name", "address", "subnet"] as const)
      if (TITLES[field].includes(title) && !found.has(field)) found.set(field, index);
  }
  return found;
}

function noColumns({ cells }: CsvRecord, at: string) {
  return {
    code: "csv-columns-unknown",
    at,
    message: `no column of NICs among '${shownText(cells.join(", "))}'`,
    remedy: "name the columns in the first line: nic,name,address,subnet",
  };
}

function separatorOf(text: string): string {
  const end = text.indexOf("\n");
  const first = text.slice(0, Math.min(end < 0 ? text.length : end, CELL_CHARACTERS_MAX));
  const count = (separator: string): number => first.split(separator).length;
  return SEPARATORS.reduce((best, separator) => (count(separator) > count(best) ? separator : best), ",");
}
