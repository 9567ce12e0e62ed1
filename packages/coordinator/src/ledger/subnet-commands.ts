import { changeSubnet, declareSubnet, removeSubnet, type LedgerState } from "@berth/core";
import { askerOf } from "./asker.js";
import type { CommitQueue } from "./commit-queue.js";
import { recordTagIn } from "./entity-tag.js";
import type { Ledger } from "./ledger.js";

type SubnetCommands = Pick<Ledger, "createSubnet" | "changeSubnet" | "removeSubnet">;

export function subnetCommands(state: LedgerState, queue: CommitQueue): SubnetCommands {
  return {
    createSubnet: (request, by) =>
      queue.submit({
        ...askerOf(by),
        action: "create-subnet",
        decide: ({ now }) => declareSubnet(state, request, now),
        subject: ({ id, prefix }) => `subnet ${id} ${prefix}`,
      }),
    changeSubnet: (id, change, by) =>
      queue.submit({
        ...askerOf(by),
        action: "change-subnet",
        decide: ({ now, observed }) => changeSubnet(state, { id, change, racks: observed.racks.all() }, now),
        subject: ({ prefix }) => `subnet ${id} ${prefix}`,
        current: () => recordTagIn(state.subnets, id),
      }),
    removeSubnet: (id, by) =>
      queue.submit({
        ...askerOf(by),
        action: "remove-subnet",
        decide: ({ now, observed }) => removeSubnet(state, { id, racks: observed.racks.all() }, now),
        subject: ({ prefix }) => `subnet ${id} ${prefix}`,
        current: () => recordTagIn(state.subnets, id),
      }),
  };
}
