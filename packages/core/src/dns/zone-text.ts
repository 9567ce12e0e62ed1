import type { IpAddress } from "../address/ip.js";
import type { DesiredRecord, DesiredZone } from "../desired/schema.js";
import { premadeLabel } from "../names/premade.js";
import { premadeRuns, type PremadeRun } from "./premade-names.js";
import { reverseName } from "./reverse.js";

/** First line of a managed zone file; by it a file is known to be ours. */
export const ZONE_HEADER = "; Managed by Berth and replaced whole: edits are lost. See berth-agent status.\n";

/** SOA timers in seconds. No secondary follows these zones by default, so only the last matters: how long a "no such name" is believed (RFC 2308). */
const REFRESH = 3600;
const RETRY = 600;
const EXPIRE = 604_800;
const NEGATIVE_TTL_MAX = 30;

/** Lines put together before they leave: few large strings are cheap, and a million names are never all held. */
const CHUNK_LINES = 8192;

/**
 * The master file (RFC 1035 §5) of a zone, in pieces of some hundred kilobytes: header, SOA, name servers, explicit records, pre-made names.
 * The same content in any order gives the same bytes. An explicit record replaces the pre-made one of its owner. The zone has passed
 * {@link checkZones}.
 */
export function* renderZoneChunks(zone: DesiredZone): Generator<string> {
  let lines = [ZONE_HEADER + apex(zone), ...zone.records.map((record) => recordLine(record, zone.ttl)).sort()];
  const replaced = new Set(zone.records.map((record) => record.owner));
  for (const run of premadeRuns(zone)) {
    if (zone.kind === "forward") pushForward(lines, zone, run, replaced);
    else pushReverse(lines, zone, run, replaced);
    if (lines.length < CHUNK_LINES) continue;
    lines.push("");
    yield lines.join("\n");
    lines = [];
  }
  if (lines.length > 0) yield `${lines.join("\n")}\n`;
}

function pushForward(lines: string[], zone: DesiredZone, run: PremadeRun, replaced: ReadonlySet<string>): void {
  const below = run.domain === zone.origin ? "" : `.${run.domain.slice(0, -zone.origin.length - 1)}`;
  if (run.family === 6) {
    const owner = premadeLabel(run.first) + below;
    if (!replaced.has(owner)) lines.push(`${owner} AAAA ${run.first}`);
    return;
  }
  const { network, octet } = splitLastOctet(run.first);
  const label = `ip-${network.replaceAll(".", "-")}`;
  for (let last = octet; last < octet + run.count; last++) {
    const owner = `${label}${last}${below}`;
    if (!replaced.has(owner)) lines.push(`${owner} A ${network}${last}`);
  }
}

function pushReverse(lines: string[], zone: DesiredZone, run: PremadeRun, replaced: ReadonlySet<string>): void {
  const owner = reverseName(run.first).slice(0, -zone.origin.length - 1);
  if (run.family === 6) {
    if (!replaced.has(owner)) lines.push(`${owner} PTR ${premadeLabel(run.first)}.${run.domain}.`);
    return;
  }
  const { network, octet } = splitLastOctet(run.first);
  const label = `ip-${network.replaceAll(".", "-")}`;
  const above = owner.slice(String(octet).length);
  for (let last = octet; last < octet + run.count; last++) {
    if (!replaced.has(`${last}${above}`)) lines.push(`${last}${above} PTR ${label}${last}.${run.domain}.`);
  }
}

function splitLastOctet(address: IpAddress): { readonly network: string; readonly octet: number } {
  const dot = address.lastIndexOf(".") + 1;
  return { network: address.slice(0, dot), octet: Number(address.slice(dot)) };
}

/** The same as one string. */
export function renderZone(zone: DesiredZone): string {
  return [...renderZoneChunks(zone)].join("");
}

function apex(zone: DesiredZone): string {
  const [primary = zone.origin] = zone.nameServers;
  const negative = Math.min(zone.ttl, NEGATIVE_TTL_MAX);
  return [
    `$ORIGIN ${zone.origin}.`,
    `$TTL ${zone.ttl}`,
    `@ SOA ${primary}. ${zone.mailbox}. ${zone.serial} ${REFRESH} ${RETRY} ${EXPIRE} ${negative}`,
    ...[...new Set(zone.nameServers)].map((server) => `@ NS ${server}.`),
  ].join("\n");
}

function recordLine(record: DesiredRecord, ttl: number): string {
  const own = record.ttl === ttl ? "" : ` ${record.ttl}`;
  return `${record.owner}${own} ${record.type} ${recordValue(record)}`;
}

function recordValue({ type, value }: DesiredRecord): string {
  switch (type) {
    case "A":
    case "AAAA":
      return value;
    case "PTR":
    case "CNAME":
    case "NS":
      return value.endsWith(".") ? value : `${value}.`;
    case "TXT":
      return quote(value);
  }
}

/** One or more character-strings of at most 255 octets (RFC 1035 §5.1): what is not plain ASCII as `\DDD`. */
function quote(text: string): string {
  const octets = [...text].flatMap((character) => utf8Octets(character));
  const strings: string[] = [];
  for (let start = 0; start === 0 || start < octets.length; start += 255) {
    strings.push(
      `"${octets
        .slice(start, start + 255)
        .map(octetText)
        .join("")}"`,
    );
  }
  return strings.join(" ");
}

function octetText(octet: number): string {
  const plain = octet >= 0x20 && octet < 0x7f && octet !== 0x22 && octet !== 0x5c;
  return plain ? String.fromCharCode(octet) : `\\${octet.toString().padStart(3, "0")}`;
}

function utf8Octets(character: string): number[] {
  const safe = /\p{Surrogate}/u.test(character) ? "\ufffd" : character;
  return (encodeURIComponent(safe).match(/%..|./g) ?? []).map((piece) =>
    piece.length === 3 ? Number.parseInt(piece.slice(1), 16) : piece.charCodeAt(0),
  );
}
