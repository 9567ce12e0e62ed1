import { printable, printableDocument } from "@berth/core";
import type { Command } from "commander";
import type { CliPorts } from "./cli-ports.js";
import { connect } from "./connection/connect.js";
import type { ApiClient } from "./connection/api-client.js";
import { formatDocument, isDocument, type Format } from "./output/document.js";
import { formatTable, type Column } from "./output/table.js";

/** What every command works with. */
export interface CliContext {
  readonly ports: CliPorts;
  connect(): Promise<ApiClient>;
  /** Prints one thing: as text for people, or as the document that was asked for. */
  show<T>(value: T, text: (value: T) => string): void;
  /** Prints a list: as a table, or as `{"items": [...]}`. An empty table is a word on stderr and nothing on stdout. */
  showList<T>(items: readonly T[], list: { readonly columns: readonly Column<T>[]; readonly empty: string }): void;
  /** Prints one of many things that come one by one: as a line of text or of JSON, or as a YAML document of its own. */
  showNext<T>(value: T, text: (value: T) => string): void;
  /** One line for people beside what stdout carries; silent when a document was asked for. */
  note(line: string): void;
}

interface GlobalOptions {
  readonly output?: Format;
  readonly json?: boolean;
}

export function createContext(program: Command, ports: CliPorts): CliContext {
  const format = (): Format => {
    const { json, output } = program.opts<GlobalOptions>();
    return json === true ? "json" : (output ?? "table");
  };
  return {
    ports,
    connect: () => connect(ports),
    show(value, text) {
      const asked = format();
      ports.stdout.write(isDocument(asked) ? formatDocument(value, asked) : text(value));
    },
    showList(items, { columns, empty }) {
      const asked = format();
      if (isDocument(asked)) ports.stdout.write(formatDocument({ items }, asked));
      else if (items.length === 0) ports.stderr.write(`${empty}\n`);
      else ports.stdout.write(formatTable(items, columns, asked === "wide"));
    },
    showNext(value, text) {
      const asked = format();
      if (asked === "yaml") ports.stdout.write(`---\n${formatDocument(value, asked)}`);
      else ports.stdout.write(`${asked === "json" ? printableDocument(JSON.stringify(value)) : printable(text(value))}\n`);
    },
    note(line) {
      if (!isDocument(format())) ports.stderr.write(`${line}\n`);
    },
  };
}
