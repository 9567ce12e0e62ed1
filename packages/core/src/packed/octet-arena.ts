import { assert } from "../problem.js";

const PAGE_BITS = 16;
const PAGE = 1 << PAGE_BITS;
/** Pages that a place of 32 bits can name. */
const PAGES_MAX = 1 << (32 - PAGE_BITS);
/** Places begin at multiples of this, so that what was freed fits the next row of about its length. */
const STEP = 4;
/** What is longer has a page of its own. */
const SHARED_MAX = PAGE / 8;

/**
 * Octets of any number of rows in pages of 64 KiB, so that growing copies nothing. A freed place is kept for a row of the same length, in steps of
 * four: the free ones of each length are a list whose links stand in the free places themselves.
 */
export class OctetArena {
  private readonly pages: Uint8Array[] = [];
  /** The page that is being filled, and how far. */
  private page = -1;
  private filled = PAGE;
  /** First free place of each length, plus one. */
  private readonly free = new Map<number, number>();
  private readonly freePages: number[] = [];
  private octetsUsed = 0;
  private octetsFree = 0;

  /** Octets of rows, and of free places between them. */
  get usage(): { readonly used: number; readonly free: number } {
    return { used: this.octetsUsed, free: this.octetsFree };
  }

  pageOf(place: number): Uint8Array {
    const page = this.pages[place >>> PAGE_BITS];
    assert(page !== undefined, "a place outside the arena");
    return page;
  }

  /** Where in its page a place is. */
  offsetOf(place: number): number {
    return place & (PAGE - 1);
  }

  put(octets: Uint8Array): number {
    const size = sizeFor(octets.length);
    const place = this.take(size);
    this.pageOf(place).set(octets, this.offsetOf(place));
    this.octetsUsed += size;
    return place;
  }

  /** `length` as it was put. */
  remove(place: number, length: number): void {
    const size = sizeFor(length);
    this.octetsUsed -= size;
    if (size > SHARED_MAX) {
      this.pages[place >>> PAGE_BITS] = new Uint8Array(0);
      this.freePages.push(place >>> PAGE_BITS);
      return;
    }
    this.octetsFree += size;
    writeLink(this.pageOf(place), this.offsetOf(place), this.free.get(size) ?? 0);
    this.free.set(size, place + 1);
  }

  private take(size: number): number {
    if (size > SHARED_MAX) return (this.newPage(size) << PAGE_BITS) >>> 0;
    const free = (this.free.get(size) ?? 0) - 1;
    if (free >= 0) {
      this.free.set(size, readLink(this.pageOf(free), this.offsetOf(free)));
      this.octetsFree -= size;
      return free;
    }
    if (this.filled + size > PAGE) {
      this.octetsFree += PAGE - this.filled;
      this.page = this.newPage(PAGE);
      this.filled = 0;
    }
    const place = ((this.page << PAGE_BITS) | this.filled) >>> 0;
    this.filled += size;
    return place;
  }

  private newPage(size: number): number {
    const number = this.freePages.pop() ?? this.pages.length;
    assert(number < PAGES_MAX, "the arena is full");
    this.pages[number] = new Uint8Array(size);
    return number;
  }
}

function sizeFor(length: number): number {
  return Math.max(STEP * 2, Math.ceil(length / STEP) * STEP);
}

/** Links are places plus one, which may need more than 32 bits: the highest stands in an octet of its own. */
function writeLink(page: Uint8Array, at: number, link: number): void {
  for (let i = 0, rest = link; i < 5; i++, rest = Math.floor(rest / 256)) page[at + i] = rest % 256;
}

function readLink(page: Uint8Array, at: number): number {
  let link = 0;
  for (let i = 4; i >= 0; i--) link = link * 256 + (page[at + i] ?? 0);
  return link;
}
