import type { IpAddress } from "../address/ip.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import type { LedgerChange } from "./change.js";
import { checkAddress, type Asked } from "./check-address.js";
import { chooseAddress } from "./choose-address.js";
import { quarantineKey, type LedgerState } from "./ledger-state.js";
import type { Allocation, Subnet } from "./model.js";

interface Wish {
  readonly subnet: Subnet;
  /** Null lets the ledger choose. */
  readonly address: IpAddress | null;
  /** What of all that speaks against the wished address counts for this request; all of it when left out. */
  readonly counts?: (problem: Problem) => boolean;
}

/** The address that a new allocation gets: the wished one if nothing speaks against it, else one that the ledger chooses. */
export function placeAddress(state: LedgerState, { subnet, address, counts }: Wish, asked: Asked): Result<IpAddress> {
  const space = state.spaceOf(subnet.id);
  if (address === null) return chooseAddress(state, space, asked);
  const problems = checkAddress(space, address, asked).filter((problem) => counts?.(problem) ?? true);
  return problems.length > 0 ? refused(...problems) : accepted(address);
}

/** The changes that add an allocation: a rested address rests no more. */
export function addAllocation(state: LedgerState, allocation: Allocation): LedgerChange[] {
  const { site } = state.spaceOf(allocation.subnetId).subnet;
  const rests = state.quarantines.get(quarantineKey({ site, address: allocation.address }));
  const woken: LedgerChange[] = rests === undefined ? [] : [{ table: "quarantine", before: rests, after: null }];
  return [...woken, { table: "allocation", before: null, after: allocation }];
}
