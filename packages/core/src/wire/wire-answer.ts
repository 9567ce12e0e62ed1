import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import type { Neighbor } from "../interface/model.js";

/** What one look at an address on the wire told. */
export interface WireAnswer {
  readonly address: IpAddress;
  /** Who answered for it, sorted; empty when nobody did. */
  readonly hardwareAddresses: readonly HardwareAddress[];
  /** Milliseconds since 1970. */
  readonly at: number;
  /** `probe`: somebody asked just then and believed only what came since. `neighbor`: the kernel talked to it lately and may be deceived for a while. */
  readonly how: "probe" | "neighbor";
}

/** Neighbours that the kernel itself has just confirmed: an entry that is not may name a hardware address that left long ago. */
export function confirmedNeighbors(neighbors: readonly Neighbor[], interfaces: ReadonlySet<string>): readonly Neighbor[] {
  return neighbors.filter(({ interfaceName, states }) => interfaces.has(interfaceName) && states.includes("REACHABLE"));
}

/** Neighbours that answered since their entries were flushed. What an operator or a daemon pinned answers nothing. */
export function answeringNeighbors(neighbors: readonly Neighbor[]): readonly Neighbor[] {
  return neighbors.filter(
    ({ states }) => !states.includes("PERMANENT") && !states.includes("NOARP") && !states.includes("FAILED"),
  );
}
