import type { PortPlace } from "./port.js";

/** One segment: a bridge in the lab's switch namespace. */
export class Link {
  readonly name: string;
  readonly #switchNamespace: string;
  readonly #bridge: string;
  readonly #nextPortName: () => string;

  constructor(name: string, bridge: string, lab: { readonly switchNamespace: string; readonly nextPortName: () => string }) {
    this.name = name;
    this.#bridge = bridge;
    this.#switchNamespace = lab.switchNamespace;
    this.#nextPortName = lab.nextPortName;
  }

  /** The place of one more cable. */
  nextPort(): Omit<PortPlace, "programs" | "environment"> {
    return { switchNamespace: this.#switchNamespace, bridge: this.#bridge, switchInterface: this.#nextPortName() };
  }
}
