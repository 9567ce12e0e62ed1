import type { IpAddress } from "../address/ip.js";
import type { WireAnswer } from "./wire-answer.js";

/** Addresses of which a rack keeps the last answer: a /18 full of machines. */
const ANSWERS_MAX = 16_384;
/** A neighbour that is there all day is told of so often. */
const AGAIN_MS = 3_600_000;

/** What a rack saw on its wires: what of it is news for a region, and all of it for a region that begins anew. */
export class WireBook {
  /** As last told, longest ago first. */
  private readonly told = new Map<IpAddress, WireAnswer>();
  private readonly probes = new Map<IpAddress, number>();

  /** Takes answers in and names those that are news: an unknown address, another holder, a probe, or a neighbour not told of for an hour. */
  note(answers: readonly WireAnswer[]): readonly WireAnswer[] {
    const news = answers.filter((answer) => isNews(this.told.get(answer.address), answer));
    for (const answer of news) {
      const before = this.told.get(answer.address);
      this.told.delete(answer.address);
      this.told.set(answer.address, answer);
      if (answer.how === "probe") this.probes.set(answer.address, answer.at);
      else if (before?.hardwareAddresses.join() !== answer.hardwareAddresses.join()) this.probes.delete(answer.address);
    }
    for (const address of this.told.keys()) {
      if (this.told.size <= ANSWERS_MAX) break;
      this.told.delete(address);
      this.probes.delete(address);
    }
    return news;
  }

  /** When the address was last probed, milliseconds since 1970; null when it was not, or when a neighbour turned up since whom the probe did not hear. */
  probedAt(address: IpAddress): number | null {
    return this.probes.get(address) ?? null;
  }

  all(): readonly WireAnswer[] {
    return [...this.told.values()];
  }
}

function isNews(told: WireAnswer | undefined, answer: WireAnswer): boolean {
  if (told === undefined || answer.how === "probe") return true;
  if (told.hardwareAddresses.join() !== answer.hardwareAddresses.join()) return true;
  return Math.abs(answer.at - told.at) >= AGAIN_MS; // either way: a clock may be set back
}
