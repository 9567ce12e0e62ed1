import type { IpAddress } from "../address/ip.js";
import { toALabels } from "../names/a-label.js";
import { checkChosenName, checkHostName, foldName } from "../names/host-name.js";
import { premadeLabel } from "../names/premade.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { subnetNamedSo } from "./check-domain.js";
import { describeHolder } from "./check-subnet.js";
import type { LedgerState } from "./ledger-state.js";
import type { NameRecord, Subnet } from "./model.js";
import type { Observed } from "./observed.js";

const OTHER_NAME = "choose another name";

/** The wished label in its stored form, lower case and A-labels; null where none was wished. */
export function wishedLabel(name: string | null | undefined): string | null {
  return name === undefined || name === null ? null : foldName(toALabels(name));
}

/** What speaks against a wished label before its address is known. */
export function checkWishedLabel(label: string | null): Problem[] {
  if (label === null) return [];
  if (!label.includes(".")) return checkHostName(label);
  const message = `'${printable(label)}' has a dot`;
  return [{ code: "name-not-label", at: "name", message, remedy: "give the host part alone; the domain is the subnet's" }];
}

export function premadeName(address: IpAddress, subnet: Pick<Subnet, "domain">): string {
  return `${premadeLabel(address)}.${subnet.domain}`;
}

export interface NamePlace {
  readonly label: string;
  readonly subnet: Subnet;
  readonly address: IpAddress;
}

/**
 * The full name for a label in the subnet's domain. Refused: another address's pre-made name, a rack's name server, a name that an operator's
 * address or CNAME record has. Whether another allocation has it is the caller's to ask.
 */
export function chosenName(state: LedgerState, { label, subnet, address }: NamePlace, observed: Observed): Result<string> {
  const problems = checkChosenName(label, address);
  if (problems.length > 0) return refused(...problems);
  const rack = rackCalled(observed, label, subnet.site);
  if (rack !== null) return refused(nameOfRack(label, rack));
  const name = `${label}.${subnet.domain}`;
  const zone = subnetNamedSo(name, state);
  if (zone !== null) {
    const message = `${name} is the domain of subnet ${zone.id}`;
    return refused({ code: "name-of-domain", at: "name", message, remedy: OTHER_NAME });
  }
  const record = state.recordsByName.of(name).find(({ type }) => type !== "TXT");
  return record === undefined ? accepted(name) : refused(takenByRecord(record));
}

/** The same, and refused too when another allocation has the name. */
export function freeName(state: LedgerState, place: NamePlace, observed: Observed): Result<string> {
  const name = chosenName(state, place, observed);
  if (!name.ok) return name;
  const holder = state.allocationByName.get(name.value);
  if (holder === undefined || holder.address === place.address) return name;
  return refused(nameTaken(name.value, `${holder.address} (${describeHolder(holder)})`));
}

/** The rack of the site whose name server has this label in every domain of it; null when none has. */
export function rackCalled(observed: Observed, label: string, site: string | null): string | null {
  const rack = observed.racks.labelled(label).find((other) => site === null || other.site === site);
  return rack?.name ?? null;
}

export function nameOfRack(label: string, rack: string): Problem {
  const message = `${label} is the name of rack ${rack}'s name server in every domain of its site`;
  return { code: "name-of-rack", at: "name", message, remedy: OTHER_NAME };
}

export function nameTaken(name: string, holder: string): Problem {
  return { code: "name-taken", at: "name", message: `${name} is already the name of ${holder}`, remedy: OTHER_NAME };
}

function takenByRecord({ id, name, type, value }: NameRecord): Problem {
  const message = `${name} has the ${type} record ${value} (${id})`;
  return {
    code: "name-taken",
    at: "name",
    message,
    remedy: `${OTHER_NAME}, or remove the record with \`berth name remove ${id}\``,
  };
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 80);
}
