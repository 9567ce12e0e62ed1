import type { HardwareAddress, NicFollower } from "@berth/core";

/** Which racks have leases of a NIC, so that nobody has to ask all of them. */
export class RacksOfNics {
  /** Nearly every NIC is on one rack. */
  readonly #racks = new Map<HardwareAddress, string | readonly string[]>();

  /** Ids, in the order in which they came. */
  of(nic: HardwareAddress): readonly string[] {
    const known = this.#racks.get(nic);
    return known === undefined ? [] : typeof known === "string" ? [known] : known;
  }

  follower(rackId: string): NicFollower {
    return {
      came: (nic) => {
        const others = this.of(nic);
        this.#racks.set(nic, others.length === 0 ? rackId : [...others, rackId]);
      },
      went: (nic) => {
        const [first, ...rest] = this.of(nic).filter((id) => id !== rackId);
        if (first === undefined) this.#racks.delete(nic);
        else this.#racks.set(nic, rest.length === 0 ? first : [first, ...rest]);
      },
    };
  }
}
