import { accepted, enrollAll, type EnrollAllContext, type EnrollRequest } from "@berth/core";
import type { Command } from "./commit-queue.js";
import type { Enrolled } from "./ledger.js";

export interface EnrollAllOrder {
  readonly actor: string;
  /** Decides as always and keeps nothing of it. */
  readonly dryRun: boolean;
  readonly newIds: EnrollAllContext["newIds"];
}

/** One command of the queue, so one commit and one line of the audit log, for all machines of an import. */
export function enrollAllCommand(requests: readonly EnrollRequest[], order: EnrollAllOrder): Command<readonly Enrolled[]> {
  const { actor, dryRun, newIds } = order;
  return {
    actor,
    action: "import-machines",
    decide: ({ now, observed, state }) => {
      const decided = enrollAll(state, requests, { observed, now, newIds });
      return decided.ok && dryRun ? accepted({ value: decided.value.value, changes: [] }) : decided;
    },
    subject: (enrolled) => `${enrolled.length} machines`,
  };
}
