import type { Lease, Lease4, LeaseValue } from "./model.js";
import { equalOctets } from "./octets.js";
import { sameLease6 } from "./table/lease6-records.js";

/** Whether two records say the same, in whatever layout they were written. */
export function sameLease(a: Lease, b: Lease): boolean {
  if (a.family === 6) return b.family === 6 && sameLease6(a, b);
  return b.family === 4 && sameTimesAndStates(a, b) && sameClient(a, b);
}

function sameTimesAndStates(a: Lease4, b: Lease4): boolean {
  return (
    a.key === b.key &&
    a.bindingState === b.bindingState &&
    a.nextBindingState === b.nextBindingState &&
    a.rewindBindingState === b.rewindBindingState &&
    a.starts === b.starts &&
    a.ends === b.ends &&
    a.cltt === b.cltt &&
    a.tstp === b.tstp &&
    a.tsfp === b.tsfp &&
    a.atsfp === b.atsfp &&
    a.bootp === b.bootp &&
    a.reserved === b.reserved &&
    a.partnered === b.partnered
  );
}

function sameClient(a: Lease4, b: Lease4): boolean {
  return (
    a.hardware?.type === b.hardware?.type &&
    equalOctets(a.hardware?.octets ?? null, b.hardware?.octets ?? null) &&
    equalOctets(a.clientId, b.clientId) &&
    equalOctets(a.clientHostname, b.clientHostname) &&
    sameValues(a.sets, b.sets) &&
    sameValues(a.agent, b.agent)
  );
}

function sameValues(a: ReadonlyMap<string, LeaseValue>, b: ReadonlyMap<string, LeaseValue>): boolean {
  if (a.size !== b.size) return false;
  for (const [name, value] of a) {
    const other = b.get(name);
    if (other === undefined) return false;
    const same = value instanceof Uint8Array ? other instanceof Uint8Array && equalOctets(value, other) : value === other;
    if (!same) return false;
  }
  return true;
}
