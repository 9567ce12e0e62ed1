import { Document, Scalar, visit } from "yaml";
import { isPrintable, printableDocument } from "./printable.js";

export const FORMATS = ["table", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

/** JSON or YAML of a value; every character that a terminal acts upon is an escape, which both languages read back. */
export function formatDocument(value: unknown, format: Exclude<Format, "table">): string {
  if (format === "json") return `${printableDocument(JSON.stringify(value, null, 2))}\n`;
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === "string" && !isPrintable(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return printableDocument(document.toString({ lineWidth: 0 }));
}
