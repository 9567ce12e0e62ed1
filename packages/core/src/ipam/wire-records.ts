import type { IpAddress } from "../address/ip.js";
import type { WireAnswer } from "../wire/wire-answer.js";
import { learntAt, noteWireAnswer, type HeardAt, type WireRecord } from "./wire-record.js";
import type { WireSighting, WireSightings } from "./wire-sightings.js";

/** Records of a region; the ones of which nothing was learnt for longest are given up beyond it. */
export const WIRE_RECORDS_MAX = 262_144;

interface SiteRecords {
  readonly records: Map<IpAddress, WireRecord>;
  /** Those that somebody answered for. An address that answers again moves to the end, so that they are in the order of `at` unless news came late. */
  readonly seen: Map<IpAddress, WireSighting>;
  newest: number;
  sorted: boolean;
}

/** What was heard on the wires of all sites, kept over time. A look-up costs the same at any size, and so does taking an answer in. */
export class WireRecords implements WireSightings {
  private readonly sites = new Map<string, SiteRecords>();
  private readonly max: number;
  private count = 0;

  constructor(records: Iterable<WireRecord> = [], max = WIRE_RECORDS_MAX) {
    this.max = max;
    for (const record of [...records].sort((a, b) => learntAt(a) - learntAt(b))) this.set(record);
  }

  get size(): number {
    return this.count;
  }

  get(site: string, address: IpAddress): WireRecord | undefined {
    return this.sites.get(site)?.records.get(address);
  }

  /** Takes an answer in; the record as it is now, or null when it told nothing new. */
  note(heard: HeardAt, answer: WireAnswer): WireRecord | null {
    const before = this.get(heard.site, answer.address);
    const after = noteWireAnswer(before, heard, answer);
    if (before !== undefined && learntAt(before) === learntAt(after) && before.seenAt === after.seenAt) return null;
    this.set(after);
    return after;
  }

  /** Takes a record as somebody else kept it. */
  take(record: WireRecord): void {
    this.set(record);
  }

  of(site: string, address: IpAddress): WireSighting | undefined {
    return this.sites.get(site)?.seen.get(address);
  }

  oldest(site: string): Iterable<WireSighting> {
    const place = this.sites.get(site);
    if (place === undefined) return [];
    if (!place.sorted) sortSeen(place);
    return place.seen.values();
  }

  /** Gives up what is beyond the bound, longest unheard of first in each site, and names it. */
  trim(): readonly WireRecord[] {
    const gone: WireRecord[] = [];
    for (const { records, seen } of this.sites.values()) {
      for (const [address, record] of records) {
        if (this.count <= this.max) return gone;
        records.delete(address);
        seen.delete(address);
        this.count -= 1;
        gone.push(record);
      }
    }
    return gone;
  }

  *all(): Iterable<WireRecord> {
    for (const { records } of this.sites.values()) yield* records.values();
  }

  private set(record: WireRecord): void {
    const { address, site, seenAt, hardwareAddresses } = record;
    let place = this.sites.get(site);
    if (place === undefined) this.sites.set(site, (place = { records: new Map(), seen: new Map(), newest: 0, sorted: true }));
    if (!place.records.delete(address)) this.count += 1;
    place.records.set(address, record);
    if (seenAt === null || place.seen.get(address)?.at === seenAt) return;
    if (seenAt < place.newest) place.sorted = false;
    place.newest = Math.max(place.newest, seenAt);
    place.seen.delete(address);
    place.seen.set(address, { address, hardwareAddresses, at: seenAt });
  }
}

/** Only a rack that comes back tells of things long past, so this is seldom done. */
function sortSeen(place: SiteRecords): void {
  const sorted = [...place.seen.values()].sort((a, b) => a.at - b.at);
  place.seen.clear();
  for (const sighting of sorted) place.seen.set(sighting.address, sighting);
  place.sorted = true;
}
