import { findRackLinks, observeOnly, type DesiredState } from "@berth/core";
import type { AgentConfig } from "./config.js";
import type { DesiredKeeper } from "./desired/desired-keeper.js";
import type { SettledInterfaces } from "./observe/host/settled-interfaces.js";
import type { Attached } from "./reconcile/dhcp-goal.js";

export interface Attachment {
  desired(): DesiredState | null;
  /** Null while no interfaces were read. */
  now(): Attached | null;
}

/**
 * Where the desired subnets are attached now; computed once for each pair of desired state and interfaces. For an agent that only observes, none of
 * them is to be served.
 */
export function createAttachment(config: AgentConfig, from: { keeper: DesiredKeeper; settled: SettledInterfaces }): Attachment {
  const { keeper, settled } = from;
  const knowledge = { real: new Set(config.addresses.real), vips: new Set(config.addresses.vips) };
  const view = config.mode === "observe" ? createObserved(keeper) : () => keeper.current();
  let known: { readonly desired: unknown; readonly attached: Attached } | null = null;
  return {
    desired: view,
    now() {
      const desired = view();
      const interfaces = settled.current();
      if (desired === null || interfaces === null) return null;
      if (known?.desired !== desired || known.attached.interfaces !== interfaces) {
        const local = findRackLinks(desired.subnets, interfaces, { ...knowledge, ledgerVips: new Set(desired.vips) });
        known = { desired, attached: { local, interfaces } };
      }
      return known.attached;
    },
  };
}

function createObserved(keeper: DesiredKeeper): () => DesiredState | null {
  let last: { readonly given: DesiredState | null; readonly observed: DesiredState | null } | null = null;
  return () => {
    const given = keeper.current();
    if (last?.given !== given) last = { given, observed: given === null ? null : observeOnly(given) };
    return last.observed;
  };
}
