import type { IpAddress } from "../address/ip.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { describeHolder } from "./check-subnet.js";
import type { Decision } from "./decision.js";
import type { LedgerState } from "./ledger-state.js";
import type { Allocation } from "./model.js";
import type { Observed } from "./observed.js";

/** What a decision needs from outside the ledger. `now` in milliseconds since 1970; the id is for a new record, unique and unused. */
export interface AllocateContext {
  readonly observed: Observed;
  readonly now: number;
  readonly allocationId: string;
}

export interface Allocated {
  readonly allocation: Allocation;
  /** False when the same request was answered before. */
  readonly created: boolean;
  /** What an operator should know of the address that was given all the same. */
  readonly warnings?: readonly Problem[];
}

const KEY = /^[\x21-\x7e]{1,128}$/;

/** What speaks against a caller's key. */
export function ownerKeyProblems(key: string | null | undefined): Problem[] {
  if (key === undefined || key === null || KEY.test(key)) return [];
  const message = "the key is not 1 to 128 printable characters without blanks";
  return [{ code: "owner-key-invalid", at: "key", message, remedy: "use letters, digits, hyphens and slashes" }];
}

interface Repeated {
  readonly ownerKey: string;
  /** What the request asks for; null leaves it open. */
  readonly subnet: string | null;
  readonly address: IpAddress | null;
  readonly label: string | null;
}

/** The answer to a request whose key has an allocation already: the same again, or a refusal when it asks for another; null for a new key. */
export function keptByKey(
  state: LedgerState,
  { ownerKey, subnet, address, label }: Repeated,
): Result<Decision<Allocated>> | null {
  const allocation = state.allocationByOwner.get(ownerKey);
  if (allocation === undefined) return null;
  const { prefix, domain } = state.spaceOf(allocation.subnetId).subnet;
  const otherSubnet = subnet !== null && subnet !== prefix && subnet !== String(allocation.subnetId);
  const otherAddress = address !== null && address !== allocation.address;
  const otherName = label !== null && `${label}.${domain}` !== allocation.name;
  if (!otherSubnet && !otherAddress && !otherName) return accepted({ value: { allocation, created: false }, changes: [] });
  const message = `the key has ${allocation.address} in ${prefix} already: ${describeHolder(allocation)}`;
  return refused({ code: "owner-key-taken", at: "key", message, remedy: "use another key, or repeat the request as it was" });
}
