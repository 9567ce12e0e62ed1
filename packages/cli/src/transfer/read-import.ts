import {
  IMPORT_CHARACTERS_MAX,
  IMPORT_ROWS_MAX,
  readCsvMachines,
  readDhcpdConf,
  readMaasExport,
  readNetboxExport,
  sharedAddresses,
  type ImportReading,
} from "@berth/core";
import type { CliPorts } from "../cli-ports.js";
import { environmentFailure } from "../cli-failure.js";

export const IMPORT_FORMATS = ["csv", "dhcpd", "maas", "netbox"] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

export interface ImportFile {
  readonly file: string;
  readonly text: string;
}

export async function readImportFile({ readFile }: CliPorts, file: string): Promise<ImportFile> {
  let text: string;
  try {
    text = await readFile(file);
  } catch (cause) {
    const message = `failed to read it: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw environmentFailure({ code: "file-unreadable", at: file, message, remedy: "check the path and its mode" }, cause);
  }
  if (text.length <= IMPORT_CHARACTERS_MAX) return { file, text };
  const message = `it has more than ${IMPORT_CHARACTERS_MAX} characters`;
  throw environmentFailure({ code: "file-too-large", at: file, message, remedy: "import it in parts" });
}

/** What all files of one import say together. `domains` are those of the declared subnets. */
export function readImport(format: ImportFormat, files: readonly ImportFile[], domains: readonly string[]): ImportReading {
  const joined = joinReadings(readingsOf(format, files, domains));
  const reading = format === "dhcpd" ? sharedAddresses(joined) : joined;
  if (reading.rows.length <= IMPORT_ROWS_MAX) return reading;
  const message = `${reading.rows.length} rows in all files, more than ${IMPORT_ROWS_MAX}`;
  const problem = { code: "import-too-large", at: files[0]?.file ?? "", message, remedy: "import the files one by one" };
  return { ...reading, rows: [], refusals: [...reading.refusals, problem] };
}

function readingsOf(format: ImportFormat, files: readonly ImportFile[], domains: readonly string[]): readonly ImportReading[] {
  const given = files.map(({ file }) => file);
  switch (format) {
    case "csv":
      return files.map(({ file, text }) => readCsvMachines(text, { file, domains }));
    case "dhcpd":
      return files.map(({ file, text }) => readDhcpdConf(text, { file, domains, given }));
    case "maas":
      return files.map(({ file, text }) => readMaasExport(text, { file, domains }));
    case "netbox":
      return [readNetboxExport(files, { file: "netbox", domains })];
  }
}

function joinReadings(readings: readonly ImportReading[]): ImportReading {
  return {
    rows: readings.flatMap(({ rows }) => rows),
    refusals: readings.flatMap(({ refusals }) => refusals),
    skipped: readings.flatMap(({ skipped }) => skipped),
  };
}
