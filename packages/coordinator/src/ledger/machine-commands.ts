import {
  changeMachine,
  enlistMachine,
  enrollMachine,
  findMachine,
  importAll,
  releaseMachine,
  type LedgerState,
  type Machine,
} from "@berth/core";
import { askerOf } from "./asker.js";
import type { CommitQueue } from "./commit-queue.js";
import { machineTagIn } from "./entity-tag.js";
import type { Ledger } from "./ledger.js";
import { newIds } from "./new-id.js";

type MachineCommands = Pick<Ledger, "enroll" | "importAll" | "enlist" | "changeMachine" | "release">;

export function machineCommands(state: LedgerState, queue: CommitQueue): MachineCommands {
  const current = (reference: string) => (): string | null => {
    const found = findMachine(state, reference);
    return found.ok ? machineTagIn(state, found.value) : null;
  };
  return {
    enroll: (request, by) =>
      queue.submit({
        ...askerOf(by),
        action: "enroll-machine",
        decide: ({ observed, now }) => enrollMachine(state, request, { observed, now, ...newIds(state) }),
        subject: ({ machine, allocation }) => `${machine.id} ${allocation.name} ${allocation.address}`,
      }),
    importAll: (request, by) =>
      queue.submit({
        ...askerOf(by),
        action: "import-machines",
        decide: ({ observed, now }) => importAll(state, request, { observed, now, newIds: () => newIds(state) }),
        subject: ({ machines, subnets }) =>
          `${machines.length} machines${subnets.length === 0 ? "" : ` and ${subnets.length} subnets`}`,
      }),
    enlist: (request, by) =>
      queue.submit({
        ...askerOf(by),
        action: "enlist-machine",
        decide: ({ now }) => enlistMachine(state, request, { now, machineId: newIds(state).machineId }),
        subject: ({ machine }) => called(machine),
      }),
    changeMachine: (machine, change, by) =>
      queue.submit({
        ...askerOf(by),
        action: "change-machine",
        decide: ({ observed }) => changeMachine(state, { machine, change }, observed),
        subject: called,
        current: current(machine),
      }),
    release: (machine, by) =>
      queue.submit({
        ...askerOf(by),
        action: "release-machine",
        decide: ({ now }) => releaseMachine(state, machine, now),
        subject: called,
        current: current(machine),
      }),
  };
}

function called({ id, name }: Machine): string {
  return name === null ? id : `${id} ${name}`;
}
