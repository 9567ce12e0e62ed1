import type { DesiredHost } from "../desired/schema.js";
import { AsciiText } from "../text/ascii-text.js";
import type { DhcpdConfig, HostGroup } from "./config.js";
import type { OmapiSettings } from "./omapi.js";
import { addHosts } from "./render-hosts.js";
import { addHead } from "./render.js";

/** dhcpd.conf as octets, which nobody changes. */
export interface DhcpdFile {
  readonly octets: Uint8Array;
  /** What stands before the declarations of hosts, which are the rest. */
  readonly head: Uint8Array;
  /** In the order of the file. */
  readonly hosts: readonly HostGroup[];
}

/** About what a host declaration takes. */
const HOST_OCTETS = 136;

/** Declarations of a group in a file. */
interface GroupText {
  readonly group: HostGroup;
  readonly octets: Uint8Array;
  /** Where each ends. */
  readonly ends: Uint32Array;
}

/** Writes dhcpd.conf: same configuration, same octets. A host that stood in the last file, by identity, is copied from there, which costs next to nothing. */
export class DhcpdWriter {
  #last: readonly GroupText[] = [];

  write(config: DhcpdConfig, omapi: OmapiSettings | null = null): DhcpdFile {
    const head = headOf(config, omapi);
    const pieces = config.hosts.map((group) =>
      piecesOf(group, this.#last.find((last) => isSameNetwork(last.group, group)) ?? null),
    );
    const size = pieces.reduce((sum, piece) => sum + sizeOf(piece), head.length);
    const octets = new Uint8Array(size);
    octets.set(head);
    let at = head.length;
    const texts: GroupText[] = [];
    for (const { group, parts, ends } of pieces) {
      const from = at;
      for (const part of parts) {
        octets.set(part, at);
        at += part.length;
      }
      texts.push({ group, octets: octets.subarray(from, at), ends });
    }
    this.#last = texts;
    return { octets, head: octets.subarray(0, head.length), hosts: config.hosts };
  }
}

/** The same as a string, for people. */
export function renderDhcpd(config: DhcpdConfig, omapi: OmapiSettings | null = null): string {
  const text = new AsciiText();
  addHead(text, config, omapi);
  for (const group of config.hosts) addHosts(text, group);
  return text.toString();
}

/** More than so many declarations are checked about as quickly with all the others. */
const CHANGED_MAX = 512;

/**
 * A file with the head of `after` and of its hosts only those that `before` has not. Null where it is no shorter way: the heads differ, or too many hosts.
 *
 * dhcpd's parser takes the declaration of a host by itself, after what the head defines; the only thing that one can have against another is its name, which is
 * unique in a reviewed configuration (`declarationName`, `reviewHosts`). So where dhcpd takes `before`, it takes `after` exactly when it takes this.
 */
export function changedPart(before: DhcpdFile, after: DhcpdFile): Uint8Array | null {
  if (!isEqual(before.head, after.head)) return null;
  const groups = after.hosts.map((group) => {
    const known = before.hosts.find((other) => isSameNetwork(other, group))?.hosts ?? [];
    const { head, tail } = commonEnds(known, group.hosts);
    const kept = new Set(known.slice(head, known.length - tail));
    return { ...group, hosts: group.hosts.slice(head, group.hosts.length - tail).filter((host) => !kept.has(host)) };
  });
  if (groups.reduce((sum, { hosts }) => sum + hosts.length, 0) > CHANGED_MAX) return null;
  const text = new AsciiText();
  text.addOctets(after.head);
  for (const group of groups) addHosts(text, group);
  return text.toOctets();
}

function headOf(config: DhcpdConfig, omapi: OmapiSettings | null): Uint8Array {
  const text = new AsciiText();
  addHead(text, config, omapi);
  return text.toOctets();
}

/** What a declaration says beside its host. */
function isSameNetwork(a: HostGroup, b: HostGroup): boolean {
  return a.subnetId === b.subnetId && a.domain === b.domain;
}

interface Pieces {
  readonly group: HostGroup;
  readonly parts: readonly Uint8Array[];
  readonly ends: Uint32Array;
}

function piecesOf(group: HostGroup, last: GroupText | null): Pieces {
  const { hosts } = group;
  const known = last?.group.hosts ?? [];
  const { head, tail } = commonEnds(known, hosts);
  const ends = new Uint32Array(hosts.length);
  if (last !== null) ends.set(last.ends.subarray(0, head));
  const before = head === 0 ? 0 : (ends[head - 1] ?? 0);
  const text = new AsciiText(HOST_OCTETS * (hosts.length - head - tail));
  addHosts(
    text,
    { ...group, hosts: hosts.slice(head, hosts.length - tail) },
    (place, size) => (ends[head + place] = before + size),
  );
  const made = text.toOctets();
  const start = endOf(last, known.length - tail);
  const moved = before + made.length - start;
  for (let n = 0; n < tail; n++) ends[hosts.length - tail + n] = moved + (last?.ends[known.length - tail + n] ?? 0);
  return { group, ends, parts: last === null ? [made] : [last.octets.subarray(0, before), made, last.octets.subarray(start)] };
}

/** Where so many of its declarations end. */
function endOf(text: GroupText | null, count: number): number {
  return count === 0 ? 0 : (text?.ends[count - 1] ?? 0);
}

function sizeOf({ parts }: Pieces): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

/** How many hosts are the same from the beginning, and how many of the others from the end. */
function commonEnds(
  before: readonly DesiredHost[],
  after: readonly DesiredHost[],
): { readonly head: number; readonly tail: number } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return { head, tail };
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((octet, at) => octet === b[at]);
}
