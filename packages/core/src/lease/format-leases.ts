import { encodeUtf8, formatColonHex } from "./octets.js";
import type { HostDeclaration, Lease, Lease4, Lease6, LeaseTime, LeaseValue } from "./model.js";
import type { LeaseTable } from "./reader.js";

/**
 * The table as a leases file in dhcpd's own layout, one block an address: what dhcpd itself makes of its file at a rewrite. ASCII only;
 * `parse(format(table))` is the table again.
 */
export function* formatLeases(table: LeaseTable): Iterable<string> {
  yield "authoring-byte-order little-endian;\n\n";
  for (const [name, { my, partner }] of table.failover) {
    const line = (whose: string, state: string | null): string => (state === null ? "" : `  ${whose} state ${state} at never;\n`);
    yield `failover peer ${quoted(latin1(name))} state {\n${line("my", my)}${line("partner", partner)}}\n`;
  }
  for (const host of table.hosts.values()) yield formatHost(host);
  for (const name of table.rubouts) yield `host ${quoted(latin1(name))} {\n  deleted;\n}\n`;
  for (const lease of table.leases()) if (lease.family === 4) yield formatLease4(lease);
  yield* formatIas(table.leases());
}

function formatLease4(lease: Lease4): string {
  const state = (keyword: string, value: string | null): string =>
    value === null ? "" : `  ${keyword} state ${value === "unknown" ? "not-known" : value};\n`;
  return [
    `lease ${lease.address} {\n`,
    timeLine("starts", lease.starts),
    timeLine("ends", lease.ends),
    timeLine("tstp", lease.tstp),
    timeLine("tsfp", lease.tsfp),
    timeLine("atsfp", lease.atsfp),
    timeLine("cltt", lease.cltt),
    state("binding", lease.bindingState),
    state("next binding", lease.nextBindingState),
    state("rewind binding", lease.rewindBindingState),
    lease.reserved ? "  reserved;\n" : "",
    lease.bootp ? "  dynamic-bootp;\n" : "",
    lease.hardware === null ? "" : `  hardware ${lease.hardware.type} ${formatColonHex(lease.hardware.octets)};\n`,
    lease.clientId === null ? "" : `  uid ${quoted(lease.clientId)};\n`,
    ...[...lease.sets].map(([name, value]) => `  set ${name} = ${formatValue(value, "%")};\n`),
    ...[...lease.agent].map(([name, value]) => `  option agent.${name} ${formatValue(value, "")};\n`),
    lease.clientHostname === null ? "" : `  client-hostname ${quoted(lease.clientHostname)};\n`,
    "}\n",
  ].join("");
}

function formatHost(host: HostDeclaration): string {
  return [
    `host ${quoted(latin1(host.name))} {\n  dynamic;\n`,
    host.hardware === null ? "" : `  hardware ${host.hardware.type} ${formatColonHex(host.hardware.octets)};\n`,
    host.clientId === null ? "" : `  uid ${quoted(host.clientId)};\n`,
    host.fixedAddresses.length === 0 ? "" : `  fixed-address ${host.fixedAddresses.join(", ")};\n`,
    host.hostname === null ? "" : `  supersede host-name = ${formatValue(host.hostname, "")};\n`,
    host.nextServer === null ? "" : `  next-server ${host.nextServer};\n`,
    "}\n",
  ].join("");
}

/** Leases of one IA go into one block again. */
function* formatIas(leases: Iterable<Lease>): Iterable<string> {
  const blocks = new Map<string, Lease6[]>();
  for (const lease of leases) {
    if (lease.family === 4) continue;
    const key = `${lease.type} ${lease.iaid} ${formatColonHex(lease.duid)}`;
    const block = blocks.get(key);
    if (block === undefined) blocks.set(key, [lease]);
    else block.push(lease);
  }
  for (const block of blocks.values()) yield formatIa(block);
}

function formatIa(block: readonly Lease6[]): string {
  const first = block[0];
  if (first === undefined) return "";
  const key = new Uint8Array(4 + first.duid.length);
  new DataView(key.buffer).setUint32(0, first.iaid, true);
  key.set(first.duid, 4);
  const entries = block.map((lease) =>
    [
      `  ${lease.type === "pd" ? "iaprefix" : "iaaddr"} ${lease.key} {\n`,
      lease.bindingState === null
        ? ""
        : `    binding state ${lease.bindingState === "unknown" ? "not-known" : lease.bindingState};\n`,
      lease.preferredLife === null ? "" : `    preferred-life ${lease.preferredLife};\n`,
      lease.maxLife === null ? "" : `    max-life ${lease.maxLife};\n`,
      timeLine("  ends", lease.ends),
      "  }\n",
    ].join(""),
  );
  return `ia-${first.type} ${quoted(key)} {\n${timeLine("cltt", first.cltt)}${entries.join("")}}\n\n`;
}

function timeLine(keyword: string, time: LeaseTime): string {
  if (time === null) return "";
  if (time === "never") return `  ${keyword} never;\n`;
  const at = new Date(time * 1000);
  const [day = "", rest = ""] = at.toISOString().slice(0, 19).split("T");
  return `  ${keyword} ${at.getUTCDay()} ${day.replaceAll("-", "/")} ${rest};\n`;
}

/** A number needs a mark where a bare one is a list of octets; text that is no string of the file comes back as one. */
function formatValue(value: LeaseValue, mark: string): string {
  if (typeof value === "number") return `${mark}${value}`;
  if (typeof value === "boolean") return String(value);
  return quoted(typeof value === "string" ? encodeUtf8(value) : value);
}

/** In dhcpd's escapes: quote and backslash behind a backslash, everything but printable ASCII as three octal digits. */
function quoted(octets: Uint8Array): string {
  let text = '"';
  for (const octet of octets) {
    const character = String.fromCharCode(octet);
    if (octet === 0x22 || octet === 0x5c) text += `\\${character}`;
    else text += octet >= 0x20 && octet < 0x7f ? character : `\\${octet.toString(8).padStart(3, "0")}`;
  }
  return `${text}"`;
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
