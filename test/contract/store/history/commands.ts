import type { Ledger } from "../../../../packages/coordinator/src/ledger/ledger.js";

/** Every command of the ledger. */
export const COMMANDS = [
  "createSubnet",
  "changeSubnet",
  "removeSubnet",
  "enroll",
  "importAll",
  "release",
  "enlist",
  "changeMachine",
  "allocate",
  "allocateMany",
  "releaseAllocation",
  "addVipOwner",
  "removeVipOwner",
  "reserve",
  "unreserve",
  "addRecord",
  "removeRecord",
] as const;
export type CommandName = (typeof COMMANDS)[number];
export type Commands = Pick<Ledger, CommandName>;

/** Between the processes of a test where only one of them may have the ledger. */
export interface CommandCall {
  readonly call: number;
  readonly name: CommandName;
  readonly args: readonly unknown[];
}
export interface CommandAnswer {
  readonly call: number;
  readonly result: unknown;
}

const BASE = 1_796_040_000_000;
/** A second lasts half an hour, so that addresses come to have rested. */
const SPEED = 1800;

/** The same in every process. */
export function fastNow(): number {
  return BASE + (Date.now() % 1_000_000_000) * SPEED;
}
