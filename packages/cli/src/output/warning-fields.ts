import type { Problem } from "@berth/core";

/** What an answer warns of, as fields of a text. */
export function warningFields(warnings: readonly Problem[] | undefined): readonly (readonly [string, string])[] {
  return (warnings ?? []).map(({ message, remedy }) => ["Warning", remedy === undefined ? message : `${message}: ${remedy}`]);
}
