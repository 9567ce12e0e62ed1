import { strangerMac, type Exchange, type RawDhcpClient, type Stranger } from "../raw-dhcp-client.js";
import type { AckBook } from "./ack-book.js";

export interface StormOptions {
  /** How many machines, each with a hardware address of its own, want an address. */
  readonly strangers: number;
  /** First number of their hardware addresses. */
  readonly from: number;
  readonly parallel?: number;
  /** How long each waits for an answer. */
  readonly waitMs?: number;
}

/** Cloned images send one client identifier from many machines. */
const CLONES = 50;

/**
 * Far more strangers than addresses ask for one, all of them deaf to ping. Every third that gets one gives it back at once, so that addresses go
 * round; every seventh claims to be one of a few clones; the others keep what they have.
 */
export async function blowStorm(wire: RawDhcpClient, book: AckBook, options: StormOptions): Promise<void> {
  const { from, parallel = 400, strangers, waitMs = 1_500 } = options;
  const all = Array.from({ length: strangers }, (_, n) => strangerOf(from + n));
  await wire.each(
    all,
    async (stranger) => {
      const exchange = await wire.dora(stranger, { attempts: 1, waitMs });
      book.note(exchange, Date.now());
      if (exchange.address !== null && book.acks % 3 === 0) giveBack(wire, book, exchange);
    },
    parallel,
  );
}

function giveBack(wire: RawDhcpClient, book: AckBook, { address, reply, stranger }: Exchange): void {
  if (address === null || reply === null) return;
  book.release(address); // before it is sent: the next may have it before this returns
  wire.release(stranger, address, reply);
}

function strangerOf(n: number): Stranger {
  const clone = n % 7 === 0 ? { clientId: `ff${(n % CLONES).toString(16).padStart(8, "0")}` } : {};
  return { mac: strangerMac(n), answers: "arp", ...clone };
}
