import type { Exchange } from "../raw-dhcp-client.js";

/** One address that two have at the same time, as the wire told it. */
export interface Clash {
  readonly address: string;
  readonly mac: string;
  /** The hardware address of the one who had it, or what else it is. */
  readonly heldBy: string;
}

interface Holding {
  readonly mac: string;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/**
 * Judges servers by what clients were told and nothing else: an acknowledged address is its client's until its lease ends or the client gives it back,
 * and an address that somebody holds by other means is nobody else's at all.
 */
export class AckBook {
  readonly clashes: Clash[] = [];
  /** Addresses acknowledged so far. */
  acks = 0;
  /** All addresses that nobody keeps and somebody was given. */
  readonly dynamic = new Set<string>();
  readonly #holdings = new Map<string, Holding>();
  readonly #kept = new Map<string, string>();

  /** That hardware address alone may be given the address, whatever the lease says. */
  keep(address: string, mac: string): void {
    this.#kept.set(address, mac);
  }

  /** Takes down what an exchange ended with; `now` in milliseconds since 1970. */
  note({ address, reply, stranger }: Exchange, now: number): void {
    if (address === null) return;
    this.acks++;
    const { mac } = stranger;
    const owner = this.#kept.get(address);
    if (owner === undefined) this.dynamic.add(address);
    const holding = this.#holdings.get(address);
    if (owner !== undefined && owner !== mac) this.clashes.push({ address, mac, heldBy: owner });
    else if (holding !== undefined && holding.mac !== mac && holding.until > now)
      this.clashes.push({ address, mac, heldBy: holding.mac });
    this.#holdings.set(address, { mac, until: now + (reply?.leaseSeconds ?? 0) * 1000 });
  }

  release(address: string): void {
    this.#holdings.delete(address);
  }
}
