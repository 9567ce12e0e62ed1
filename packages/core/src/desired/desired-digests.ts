import { canonicalJson } from "./digest.js";
import type { DesiredState, DesiredSubnet, DesiredZone } from "./schema.js";

/**
 * Names whole desired states, number included: equal states have equal names, whatever the order of their members. A name is made of names of the networks
 * and zones, which are remembered with the objects: a state that shares its parts with an earlier one costs only what differs.
 */
export class DesiredDigests {
  readonly #sha256: (text: string) => string;
  readonly #parts = new WeakMap<object, string>();

  constructor(sha256: (text: string) => string) {
    this.#sha256 = sha256;
  }

  of(state: DesiredState): string {
    return this.#remember(state, () => {
      const { subnets, zones, ...rest } = state;
      const parts = [...subnets.map((subnet) => this.#subnet(subnet)), "", ...zones.map((zone) => this.#zone(zone))];
      return [canonicalJson(rest), ...parts];
    });
  }

  // No text in these lists holds a line feed or, but for a value at its end, a blank: the schema sees to that.
  #subnet(subnet: DesiredSubnet): string {
    return this.#remember(subnet, () => {
      const { hosts, ...rest } = subnet;
      return [canonicalJson(rest), ...hosts.map(({ hardwareAddress, address, name }) => `${hardwareAddress} ${address} ${name}`)];
    });
  }

  #zone(zone: DesiredZone): string {
    return this.#remember(zone, () => {
      const { records, ...rest } = zone;
      return [canonicalJson(rest), ...records.map(({ owner, type, ttl, value }) => JSON.stringify([owner, type, ttl, value]))];
    });
  }

  #remember(part: object, lines: () => readonly string[]): string {
    const known = this.#parts.get(part);
    if (known !== undefined) return known;
    const digest = this.#sha256(lines().join("\n"));
    this.#parts.set(part, digest);
    return digest;
  }
}
