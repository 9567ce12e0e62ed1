import type { Problem } from "../problem.js";
import { nodeText, type ConfNode } from "./conf-tree.js";
import { ADOPT_FINDINGS_MAX, type AdoptFinding } from "./plan.js";

const WHY_MAX = 300;
const PLACE_MAX = 4200;

/** Gathers what has no counterpart, up to the limit of a plan. */
export class Findings {
  readonly list: AdoptFinding[] = [];
  /** One setting of the whole file is met in every subnet. */
  private readonly known = new Set<string>();
  private more = 0;

  add(node: ConfNode, why: string): void {
    this.put({ at: node.at, text: nodeText(node), why });
  }

  addProblem({ at, message }: Pick<Problem, "at" | "message">): void {
    this.put({ at, text: "", why: message });
  }

  /** All of them, with a last one that counts what did not fit. */
  all(): AdoptFinding[] {
    const more = { at: "", text: "", why: `${this.more} more that are not listed` };
    return this.more === 0 ? this.list : [...this.list, more];
  }

  private put({ at, text, why }: AdoptFinding): void {
    const key = `${at}\n${text}\n${why}`;
    if (this.known.has(key)) return;
    if (this.list.length >= ADOPT_FINDINGS_MAX) {
      this.more++;
      return;
    }
    this.known.add(key);
    this.list.push({ at: at.slice(0, PLACE_MAX), text, why: why.slice(0, WHY_MAX) });
  }
}
