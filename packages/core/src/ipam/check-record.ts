import { addressFamily, parseIpAddress, type IpAddress } from "../address/ip.js";
import { prefixContains } from "../address/prefix.js";
import { checkHostName } from "../names/host-name.js";
import { parsePremade } from "../names/premade.js";
import type { Problem } from "../problem.js";
import { nameOfRack, rackCalled } from "./allocation-name.js";
import { describeHolder } from "./check-subnet.js";
import { domainOfName } from "./domain-of-name.js";
import type { LedgerState } from "./ledger-state.js";
import type { NameRecord } from "./model.js";
import type { Observed } from "./observed.js";

/** RFC 1035 §2.3.4 and §3.3.14: a name without its final dot, and one character string. */
const NAME_MAX = 253;
const TEXT_MAX = 255;
const RECORDS_OF_NAME_MAX = 64;
/** A longer chain of aliases is a mistake, or on its way to become a loop. */
const ALIASES_MAX = 8;
/** What may own a TXT or CNAME record: also `_dmarc`, `_acme-challenge` (RFC 8552). */
const UNDERSCORED = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

export type WishedRecord = Pick<NameRecord, "name" | "type" | "value">;

/** All that speaks against one record in folded form, by itself and beside what the ledger has. `observed` null: racks are left out. */
export function checkRecord(state: LedgerState, record: WishedRecord, observed: Observed | null): readonly Problem[] {
  const shape = [...checkOwner(record), ...checkValue(record)];
  if (shape.length > 0) return shape;
  const domain = domainOfName(state, record.name);
  if (domain === null) {
    const message = `${record.name} is in no domain of a subnet`;
    return [problem("name-outside-domains", "name", message, "choose a name in the domain of a declared subnet")];
  }
  return [
    ...checkReserved(state, { record, domain }, observed),
    ...checkBeside(state, record),
    ...(record.type === "CNAME" ? checkAliases(state, record) : []),
  ];
}

function checkOwner({ name, type }: WishedRecord): Problem[] {
  if (type === "A" || type === "AAAA") return checkHostName(name);
  if (name.length > NAME_MAX)
    return [problem("name-too-long", "name", `'${printable(name)}' has more than ${NAME_MAX} characters`, "shorten it")];
  if (name.split(".").every((label) => UNDERSCORED.test(label))) return [];
  const message = `'${printable(name)}' has an empty, long or odd label`;
  return [problem("label-characters", "name", message, "use a-z, 0-9, underscore and inner hyphens")];
}

function checkValue({ type, value, name }: WishedRecord): Problem[] {
  const refuse = (message: string, remedy: string): Problem[] => [problem("record-value-invalid", "value", message, remedy)];
  switch (type) {
    case "A":
    case "AAAA": {
      const family = type === "A" ? 4 : 6;
      const address = parseIpAddress(value);
      if (address !== null && addressFamily(address) === family) return [];
      return refuse(
        `'${printable(value)}' is not an IPv${family} address`,
        `give one, or use type ${type === "A" ? "AAAA" : "A"}`,
      );
    }
    case "CNAME": {
      const whole = value.length <= NAME_MAX && value.split(".").every((label) => UNDERSCORED.test(label));
      if (!whole || parseIpAddress(value) !== null)
        return refuse(`'${printable(value)}' is not a domain name`, "give the full name that it is an alias of");
      return value === name ? refuse("it would be an alias of itself", "give the name that it is an alias of") : [];
    }
    case "TXT":
      if (value.length > 0 && value.length <= TEXT_MAX && /^[\x20-\x7e]*$/.test(value)) return [];
      return refuse(`the text is not 1 to ${TEXT_MAX} printable ASCII characters`, "shorten it, or encode it");
  }
}

interface Placed {
  readonly record: WishedRecord;
  readonly domain: string;
}

/** Names that are spoken for before any record: the apex for aliases, racks' name servers, pre-made names. */
function checkReserved(state: LedgerState, { record, domain }: Placed, observed: Observed | null): Problem[] {
  const { name, type } = record;
  const label = name === domain ? "" : name.slice(0, -domain.length - 1);
  if (label === "") {
    if (type !== "CNAME") return [];
    const message = `${name} is the top of its zone, which has other records`;
    return [problem("cname-beside-others", "name", message, "use A or AAAA there (RFC 1034 §3.6.2)")];
  }
  const rack = observed === null || label.includes(".") ? null : rackCalled(observed, label, null);
  if (rack !== null && type !== "TXT") return [nameOfRack(label, rack)];
  const premade = parsePremade(label);
  const taken = premade !== null && domainHolds(state, domain, premade);
  if (!taken) return [];
  const message = `${name} is the pre-made name of ${premade}`;
  return [problem("name-premade-of-other", "name", message, "choose another name")];
}

/** Also where the pre-made names are too many to be written out: an allocation may bring any of them. */
function domainHolds(state: LedgerState, domain: string, address: IpAddress): boolean {
  return state.subnetsByDomain.of(domain).some((id) => prefixContains(state.spaceOf(id).subnet.prefix, address));
}

function checkBeside(state: LedgerState, { name, type }: WishedRecord): Problem[] {
  const others = state.recordsByName.of(name);
  const holder = state.allocationByName.get(name);
  if (holder !== undefined && type !== "TXT") {
    const message = `${name} is already the name of ${holder.address} (${describeHolder(holder)})`;
    return [problem("name-taken", "name", message, "choose another name, or rename that machine first")];
  }
  if (others.length >= RECORDS_OF_NAME_MAX) {
    const message = `${name} has ${RECORDS_OF_NAME_MAX} records, its limit`;
    return [problem("records-too-many", "name", message, "remove some first")];
  }
  const alias = others.find((other) => other.type === "CNAME");
  const clash = type === "CNAME" ? others[0] : alias;
  if (clash === undefined) return [];
  const message = `${name} has the ${clash.type} record ${clash.value} (${clash.id}), and an alias stands alone`;
  return [
    problem("cname-beside-others", "name", message, `keep one of them (RFC 2181 §10.1): \`berth name remove ${clash.id}\``),
  ];
}

function checkAliases(state: LedgerState, { name, value }: WishedRecord): Problem[] {
  let target = value;
  for (let step = 0; step < ALIASES_MAX; step++) {
    const next = state.recordsByName.of(target).find(({ type }) => type === "CNAME");
    if (next === undefined) return [];
    target = next.value;
    if (target !== name) continue;
    return [problem("cname-loop", "value", `${value} leads back to ${name}`, "give the name that has the address")];
  }
  const message = `${value} is the start of more than ${ALIASES_MAX} aliases`;
  return [problem("cname-loop", "value", message, "give the name that has the address")];
}

function problem(code: string, at: string, message: string, remedy: string): Problem {
  return { code, at, message, remedy };
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 80);
}
