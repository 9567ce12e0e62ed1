import { isPrintable, printableDocument } from "@berth/core";
import { Document, Scalar, visit } from "yaml";

export const FORMATS = ["table", "wide", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];
/** For programs; the others are for people. */
export type DocumentFormat = "json" | "yaml";

export function isDocument(format: Format): format is DocumentFormat {
  return format === "json" || format === "yaml";
}

/** JSON or YAML of a value; every character that a terminal acts upon is an escape, which both languages read back. */
export function formatDocument(value: unknown, format: DocumentFormat): string {
  if (format === "json") return `${printableDocument(JSON.stringify(value, null, 2))}\n`;
  return yamlText(value, "1.2");
}

/**
 * YAML that programs of version 1.1 read alike (PyYAML in Ansible and cloud-init): to them an unquoted 52:54:00:12:34:56 is a number in base 60.
 */
export function formatYaml11(value: unknown): string {
  return yamlText(value, "1.1");
}

function yamlText(value: unknown, version: "1.1" | "1.2"): string {
  const document = new Document(value, { aliasDuplicateObjects: false, version });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === "string" && !isPrintable(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return printableDocument(document.toString({ lineWidth: 0 }));
}
