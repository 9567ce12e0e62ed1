import { addressFamily, parseIpAddress } from "../address/ip.js";
import { prefixContains, type IpPrefix } from "../address/prefix.js";
import type { DesiredRecord, DesiredState, DesiredZone } from "../desired/schema.js";
import { checkHostName, foldName } from "../names/host-name.js";
import { parsePremade } from "../names/premade.js";
import type { Problem } from "../problem.js";
import { hasPremadeNames } from "./premade-names.js";
import { zoneFileName } from "./zone-file-name.js";

/** RFC 1035 §2.3.4, without the final dot. */
const NAME_MAX = 253;

/** All reasons for which these zones would not be served as they are, zone by zone in order of origin. */
export function checkZones(desired: Pick<DesiredState, "zones">): Problem[] {
  const zones = desired.zones.toSorted((a, b) => (a.origin < b.origin ? -1 : 1));
  const seen = new Map<string, number>();
  for (const zone of zones) seen.set(foldName(zone.origin), (seen.get(foldName(zone.origin)) ?? 0) + 1);
  return zones.flatMap((zone) => [
    ...(seen.get(foldName(zone.origin)) === 1
      ? []
      : [finding(zone, "zone-duplicate", "the zone is there twice", "merge the two")]),
    ...checkOrigin(zone),
    ...checkPremade(zone),
    ...checkRecords(zone),
    ...checkNameServers(zone),
  ]);
}

function finding(zone: DesiredZone, code: string, message: string, remedy: string, owner?: string): Problem {
  return { code, at: `zone ${zone.origin}${owner === undefined ? "" : ` owner ${printable(owner)}`}`, message, remedy };
}

function checkOrigin(zone: DesiredZone): Problem[] {
  if (zone.origin !== foldName(zone.origin))
    return [finding(zone, "zone-origin-not-folded", "the origin is not in lower case without final dot", "fold it")];
  // named refuses address records whose full name is no host name, so a forward origin must be one itself.
  if (zone.kind === "forward") return checkHostName(zone.origin, `zone ${zone.origin}`);
  if (zoneFileName(zone.origin).length > FILE_NAME_MAX)
    return [finding(zone, "zone-origin-too-long", "the origin makes too long a file name", "use a shorter origin")];
  return [];
}

/** NAME_MAX of Linux, less what a writer adds for its temporary and candidate files. */
const FILE_NAME_MAX = 230;

function checkPremade(zone: DesiredZone): Problem[] {
  const problems = zone.premade
    .filter(({ domain }) => zone.kind === "forward" && domain !== zone.origin && !domain.endsWith(`.${zone.origin}`))
    .map(({ prefix, domain }) =>
      finding(
        zone,
        "premade-out-of-zone",
        `the names of ${prefix} are in ${domain}, which is not below the origin`,
        "name a domain of this zone",
      ),
    );
  return [...problems, ...zone.premade.flatMap(({ domain }) => checkHostName(domain, `zone ${zone.origin}`))];
}

function checkRecords(zone: DesiredZone): Problem[] {
  const problems: Problem[] = [];
  const sets = new Map<string, DesiredRecord[]>();
  for (const record of zone.records) {
    problems.push(...checkOwner(zone, record), ...checkValue(zone, record));
    const owner = foldName(record.owner);
    const others = sets.get(owner);
    if (others === undefined) sets.set(owner, [record]);
    else others.push(record);
  }
  for (const records of sets.values()) problems.push(...checkOwnerSet(zone, records));
  return problems;
}

function checkOwner(zone: DesiredZone, { owner, type }: DesiredRecord): Problem[] {
  const refuse = (code: string, message: string, remedy: string): Problem[] => [finding(zone, code, message, remedy, owner)];
  if (owner === "@") return [];
  const name = `${owner}.${zone.origin}`;
  if (owner === "" || owner.endsWith(".") || owner !== owner.toLowerCase())
    return refuse(
      "record-owner-form",
      "the owner is not a relative name in lower case",
      "write it relative to the origin, or @ for the apex",
    );
  if (name.length > NAME_MAX)
    return refuse("record-owner-too-long", `the name has more than ${NAME_MAX} characters`, "shorten it");
  if (type === "A" || type === "AAAA") {
    const host = owner.startsWith("*.") ? owner.slice(2) : owner;
    if (host === "*") return [];
    return checkHostName(`${host}.${zone.origin}`, `zone ${zone.origin} owner ${printable(owner)}`);
  }
  const labels = owner.split(".");
  if (labels.some((label) => label === "" || label.length > 63 || !/^(?:\*|[a-z0-9_/-]+)$/.test(label)))
    return refuse("record-owner-characters", "the owner has an empty, long or odd label", "use a-z, 0-9, hyphen and underscore");
  return [];
}

function checkValue(zone: DesiredZone, { owner, type, value }: DesiredRecord): Problem[] {
  const refuse = (message: string): Problem[] => [finding(zone, "record-value", message, "correct the value", owner)];
  switch (type) {
    case "A":
    case "AAAA": {
      const address = parseIpAddress(value);
      const family = type === "A" ? 4 : 6;
      return address !== null && addressFamily(address) === family
        ? []
        : refuse(`'${printable(value)}' is not an IPv${family} address`);
    }
    case "PTR":
    case "NS":
      return checkHostName(foldName(value), `zone ${zone.origin} owner ${printable(owner)}`);
    case "CNAME":
      return /^(?:[a-z0-9_/-]{1,63}\.)*[a-z0-9_/-]{1,63}\.?$/.test(value) && value.length <= NAME_MAX + 1
        ? []
        : refuse(`'${printable(value)}' is not a domain name`);
    case "TXT":
      return [];
  }
}

function checkOwnerSet(zone: DesiredZone, records: readonly DesiredRecord[]): Problem[] {
  const [{ owner } = { owner: "@" }] = records;
  const refuse = (code: string, message: string, remedy: string): Problem => finding(zone, code, message, remedy, owner);
  const problems: Problem[] = [];
  const types = new Map<string, DesiredRecord>();
  const seen = new Set<string>();
  for (const record of records) {
    const same = `${record.type} ${foldName(record.value)}`;
    if (seen.has(same)) problems.push(refuse("record-duplicate", `the same ${record.type} record is there twice`, "remove one"));
    seen.add(same);
    const first = types.get(record.type) ?? record;
    types.set(record.type, first);
    if (first.ttl !== record.ttl)
      problems.push(
        refuse("record-ttl-differs", `its ${record.type} records have different TTLs`, "give one RRset one TTL (RFC 2181 §5.2)"),
      );
  }
  const cnames = records.filter((record) => record.type === "CNAME").length;
  const shadows = premadeProblem(zone, records);
  if (cnames > 0 && (records.length > 1 || owner === "@" || (shadows !== null && zone.kind === "forward")))
    problems.push(
      refuse("cname-beside-others", "a CNAME stands beside other records of its name", "keep one of them (RFC 2181 §10.1)"),
    );
  else if (shadows !== null) problems.push(shadows);
  return problems;
}

/** In a forward zone a pre-made name means its address and nothing else. In a reverse zone records replace it, as they should. */
function premadeProblem(zone: DesiredZone, records: readonly DesiredRecord[]): Problem | null {
  const [first] = records;
  if (zone.kind !== "forward" || first === undefined) return null;
  const address = parsePremade(first.owner.split(".")[0] ?? "");
  if (address === null) return null;
  const below = first.owner.includes(".") ? `${first.owner.slice(first.owner.indexOf(".") + 1)}.${zone.origin}` : zone.origin;
  const isPremade = zone.premade.some(({ prefix, domain }) => domain === below && covers(prefix, address));
  const same = records.every(({ type, value }) => type === "TXT" || value === address);
  if (!isPremade || same) return null;
  return finding(
    zone,
    "record-shadows-premade",
    `the name is the pre-made name of ${address}`,
    "choose another name",
    first.owner,
  );
}

function covers(prefix: IpPrefix, address: Parameters<typeof prefixContains>[1]): boolean {
  return hasPremadeNames(prefix) && prefixContains(prefix, address);
}

/** named refuses a zone whose name server is inside it and has no address there. */
function checkNameServers(zone: DesiredZone): Problem[] {
  const at = `zone ${zone.origin}`;
  const problems = zone.nameServers.flatMap((server) => checkHostName(server, at));
  const addressed = new Set(zone.records.filter(({ type }) => type === "A" || type === "AAAA").map(({ owner }) => owner));
  for (const server of zone.nameServers) {
    const inside =
      server === zone.origin ? "@" : server.endsWith(`.${zone.origin}`) ? server.slice(0, -zone.origin.length - 1) : null;
    if (inside === null || addressed.has(inside) || isPremadeName(zone, inside)) continue;
    problems.push(
      finding(zone, "name-server-without-address", `${server} has no address in the zone`, "add its A or AAAA record", inside),
    );
  }
  return problems;
}

function isPremadeName(zone: DesiredZone, owner: string): boolean {
  const address = parsePremade(owner);
  return address !== null && zone.premade.some(({ prefix, domain }) => domain === zone.origin && covers(prefix, address));
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 80);
}
