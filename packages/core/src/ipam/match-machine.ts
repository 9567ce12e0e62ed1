import type { HardwareAddress } from "../address/hardware.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import type { LedgerChange } from "./change.js";
import type { LedgerState } from "./ledger-state.js";
import type { Machine } from "./model.js";

export interface Match {
  readonly machine: Machine;
  readonly changes: readonly LedgerChange[];
}

interface Wanted {
  readonly nics: readonly HardwareAddress[];
  readonly name: string | null;
  readonly newId: string;
  /** What it becomes; an enrolled machine stays one. */
  readonly to?: "enlisted" | "enrolled";
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The machine these NICs belong to, in its new state: the one that has any of them, or a new one. NICs of two machines in use are refused; a NIC of a
 * released machine may move to another.
 */
export function matchMachine(state: LedgerState, wanted: Wanted): Result<Match> {
  const known = knownMachines(state, wanted.nics);
  const inUse = known.filter(({ state: now }) => now !== "released");
  if (inUse.length > 1) return refused(...onTwoMachines(inUse, wanted.nics));
  const before = inUse[0] ?? known[0] ?? null;
  const stranger = before?.state === "released" ? null : checkFirstNic(before, wanted.nics);
  if (stranger !== null) return refused(stranger);
  const problem = before === null ? null : checkRename(before, wanted.name);
  if (problem !== null) return refused(problem);
  const keptNics =
    before === null ? [] : before.state === "released" ? before.nics.filter((nic) => wanted.nics.includes(nic)) : before.nics;
  const machine: Machine = {
    id: before?.id ?? wanted.newId,
    name:
      before === null || before.state === "released"
        ? wanted.name
        : before.state === "enlisted"
          ? (wanted.name ?? before.name)
          : before.name,
    state: before?.state === "enrolled" ? "enrolled" : (wanted.to ?? "enrolled"),
    nics: keptNics.length === 0 || before?.state === "released" ? wanted.nics : [...new Set([...keptNics, ...wanted.nics])],
    createdAt: before?.createdAt ?? wanted.now,
  };
  const losers = takeNics(
    known.filter(({ id }) => id !== machine.id),
    wanted.nics,
  );
  const same = before !== null && JSON.stringify(before) === JSON.stringify(machine);
  return accepted({ machine, changes: same ? losers : [...losers, { table: "machine", before, after: machine }] });
}

/** The changes that take these NICs away from whoever had them and gave up its addresses. */
export function takeNics(losers: readonly Machine[], nics: readonly HardwareAddress[]): LedgerChange[] {
  return losers.map((loser) => withoutNics(loser, nics));
}

export function knownMachines(state: LedgerState, nics: readonly HardwareAddress[]): Machine[] {
  const known = nics.flatMap((nic) => state.machineOfNic.get(nic) ?? []);
  return [...new Map(known.map((machine) => [machine.id, machine])).values()];
}

export function onTwoMachines(machines: readonly Machine[], nics: readonly HardwareAddress[]): Problem[] {
  const who = machines.map(({ id, name, nics: theirs }) => {
    const shared = theirs.filter((nic) => nics.includes(nic)).join(", ");
    return `${shared} to ${name ?? "machine"} (${id})`;
  });
  const message = `these NICs belong to different machines: ${who.join("; ")}`;
  return [
    {
      code: "nic-on-two-machines",
      at: "nics",
      message,
      remedy: "release the wrong machine first, or name the NICs of one machine only",
    },
  ];
}

/** The first NIC says which machine is meant: others may be added to it, but a new first NIC must not creep into a known machine. */
function checkFirstNic(machine: Machine | null, nics: readonly HardwareAddress[]): Problem | null {
  const first = nics[0];
  if (machine === null || first === undefined || machine.nics.includes(first)) return null;
  const theirs = machine.nics.filter((nic) => nics.includes(nic));
  const message = `${theirs.join(", ")} belongs to ${machine.name ?? "machine"} (${machine.id}), ${first} does not`;
  const remedy = `name ${theirs[0] ?? "its NIC"} first if ${first} is another NIC of that machine, or release that machine`;
  return { code: "nic-on-two-machines", at: "nics", message, remedy };
}

function checkRename(machine: Machine, name: string | null): Problem | null {
  if (name === null || machine.state !== "enrolled" || machine.name === name) return null;
  const called = machine.name === null ? "has no chosen name" : `is called ${machine.name}`;
  const message = `${machine.nics[0] ?? "this NIC"} belongs to machine ${machine.id}, which ${called}, not '${name}'`;
  return {
    code: "machine-named-otherwise",
    at: "name",
    message,
    remedy: "leave the name out, or release the machine and enroll it again",
  };
}

function withoutNics(machine: Machine, nics: readonly HardwareAddress[]): LedgerChange {
  const left = machine.nics.filter((nic) => !nics.includes(nic));
  return { table: "machine", before: machine, after: left.length === 0 ? null : { ...machine, nics: left } };
}
