import { strangerMac, type Exchange, type RawDhcpClient, type Stranger } from "../raw-dhcp-client.js";
import { addressBytes } from "../ethernet.js";

/** A client and what it believes to hold. */
interface Client {
  readonly stranger: Stranger;
  held: { readonly address: string; readonly server: Server; readonly until: number } | null;
}

interface Server {
  readonly serverId: string | null;
  readonly serverMac: string;
}

const PARALLEL = 100;
/** Every other client asks for a lease that outlives an hour. */
const LONG_SECONDS = 20_000;

/** Thousands of clients that get, renew, give back and decline addresses in an order that a seed decides. */
export class Crowd {
  readonly #client: RawDhcpClient;
  readonly #random: () => number;
  readonly #clients: readonly Client[];
  /** Declined addresses, which dhcpd must have abandoned. */
  readonly declined = new Set<string>();

  constructor(client: RawDhcpClient, size: number, seed: number) {
    this.#client = client;
    this.#random = mulberry32(seed);
    this.#clients = Array.from({ length: size }, (_, n) => ({ stranger: strangerOf(n), held: null }));
  }

  /** Address to hardware address of everyone who holds a lease that has not ended at that time (seconds). */
  holders(now: number): Map<string, string> {
    const holding = this.#clients.filter(({ held }) => held !== null && held.until > now);
    return new Map(holding.map(({ stranger, held }) => [held?.address ?? "", stranger.mac]));
  }

  /** So many clients that hold nothing ask for an address. Answers how many got one. */
  async grant(count: number, now: () => number): Promise<number> {
    const some = this.#pick(count, ({ held }) => held === null || held.until <= now());
    const exchanges = await this.#client.each(some, ({ stranger }) => this.#client.dora(stranger), PARALLEL);
    return this.#note(some, exchanges, now);
  }

  async renew(count: number, now: () => number): Promise<number> {
    const some = this.#pick(count, ({ held }) => held !== null && held.until > now());
    const renewal = ({ stranger, held }: Client): Promise<Exchange> =>
      this.#client.renew(stranger, held?.address ?? "", held === null ? {} : { server: held.server });
    return this.#note(some, await this.#client.each(some, renewal, PARALLEL), now);
  }

  release(count: number, now: () => number): void {
    for (const one of this.#pick(count, ({ held }) => held !== null && held.until > now())) {
      if (one.held === null) continue;
      this.#client.release(one.stranger, one.held.address, one.held.server);
      one.held = null;
    }
  }

  decline(count: number, now: () => number): void {
    for (const one of this.#pick(count, ({ held }) => held !== null && held.until > now())) {
      if (one.held === null) continue;
      this.#client.decline(one.stranger, one.held.address, one.held.server);
      this.declined.add(one.held.address);
      one.held = null;
    }
  }

  #note(some: readonly Client[], exchanges: readonly Exchange[], now: () => number): number {
    exchanges.forEach(({ offer, reply, address }, index) => {
      const one = some[index];
      if (one === undefined || address === null || reply === null) return;
      one.held = { address, server: offer ?? reply, until: now() + (reply.leaseSeconds ?? 0) };
    });
    return exchanges.filter(({ address }) => address !== null).length;
  }

  #pick(count: number, fit: (client: Client) => boolean): Client[] {
    const fitting = this.#clients.filter(fit);
    for (let i = fitting.length - 1; i > 0; i--) {
      const j = Math.floor(this.#random() * (i + 1));
      const [a, b] = [fitting[i], fitting[j]];
      if (a !== undefined && b !== undefined) [fitting[i], fitting[j]] = [b, a];
    }
    return fitting.slice(0, count);
  }
}

/** Some with odd names and client identifiers: braces and semicolons in strings are where readers of the file fall. */
function strangerOf(n: number): Stranger {
  const hostname = n % 7 === 0 ? "x{y};z" : `node-${n}`;
  return {
    mac: strangerMac(n),
    ...(n % 3 === 0 ? {} : { hostname }),
    ...(n % 5 === 0 ? { clientId: `00${Buffer.from(`};"${n}`).toString("hex")}` } : {}),
    ...(n % 2 === 0 ? { options: [[51, addressBytes(seconds(LONG_SECONDS))] as const] } : {}),
  };
}

/** A number of seconds in the form of an address: option 51 is four octets as well. */
function seconds(n: number): string {
  return [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join(".");
}

/** A small generator of numbers from 0 to 1, the same for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
