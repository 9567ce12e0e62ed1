import {
  addVipOwner,
  allocateMany,
  allocateOne,
  findAllocation,
  releaseAllocation,
  removeVipOwner,
  type AllocateRequest,
  type Allocation,
  type LedgerState,
} from "@berth/core";
import { askerOf } from "./asker.js";
import type { CommitQueue } from "./commit-queue.js";
import { allocationTag } from "./entity-tag.js";
import type { Ledger } from "./ledger.js";
import { newIds } from "./new-id.js";

type AllocationCommands = Pick<Ledger, "allocate" | "allocateMany" | "releaseAllocation" | "addVipOwner" | "removeVipOwner">;

/** What each kind of request is in the audit log. */
const ACTIONS: Readonly<Record<AllocateRequest["kind"], string>> = {
  enroll: "enroll-machine",
  machine: "enroll-machine",
  additional: "add-address",
  vip: "create-vip",
};

export function allocationCommands(state: LedgerState, queue: CommitQueue): AllocationCommands {
  const current = (reference: string) => (): string | null => {
    const found = findAllocation(state, reference);
    return found.ok ? allocationTag(found.value) : null;
  };
  return {
    allocate: (request, by) =>
      queue.submit({
        ...askerOf(by),
        action: ACTIONS[request.kind],
        decide: ({ observed, now }) => allocateOne(state, request, { observed, now, ids: [newIds(state)] }),
        subject: ({ allocation }) => called(allocation),
      }),
    allocateMany: (requests, by) =>
      queue.submit({
        ...askerOf(by),
        action: "allocate-many",
        decide: ({ observed, now }) => allocateMany(state, requests, { observed, now, ids: requests.map(() => newIds(state)) }),
        subject: (all) => `${all.length} addresses`,
      }),
    releaseAllocation: (reference, by) =>
      queue.submit({
        ...askerOf(by),
        action: "release-address",
        decide: ({ now }) => releaseAllocation(state, reference, now),
        subject: called,
        current: current(reference),
      }),
    addVipOwner: (membership, by) =>
      queue.submit({
        ...askerOf(by),
        action: "add-vip-owner",
        decide: () => addVipOwner(state, membership),
        subject: called,
        current: current(membership.vip),
      }),
    removeVipOwner: (membership, by) =>
      queue.submit({
        ...askerOf(by),
        action: "remove-vip-owner",
        decide: ({ now }) => removeVipOwner(state, membership, now),
        subject: called,
        current: current(membership.vip),
      }),
  };
}

function called({ id, name, address }: Allocation): string {
  return `${id} ${name} ${address}`;
}
