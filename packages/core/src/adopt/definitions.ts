import type { ConfNode } from "./conf-tree.js";
import { isOptionDefinition } from "./counterparts.js";

/** Names that a file gives to options which dhcpd does not know by itself (dhcp-options(5), "defining new options"), and the few it knows that matter here. */
export class Definitions {
  private readonly codes = new Map<string, number>([["pxe-system-type", 93]]);

  /** Definitions stand in the file itself, outside every block. */
  constructor(root: ConfNode) {
    for (const node of root.body ?? [])
      if (isOptionDefinition(node)) this.codes.set(node.words[1]?.text.toLowerCase() ?? "", Number(node.words[3]?.text));
  }

  /** Null for an option that dhcpd knows by itself. */
  codeOf(name: string): number | null {
    return this.codes.get(name.toLowerCase()) ?? null;
  }

  namesOf(code: number): string[] {
    return [...this.codes].filter(([, one]) => one === code).map(([name]) => name);
  }
}
