import { compileDhcpd, enlistmentAddress, renderDhcpd, type DesiredState, type Problem, type RackLinks } from "@berth/core";
import type { EnlistmentAddress } from "./enlistment.js";

export interface DhcpdGoal {
  /** `keep`: nothing new can be decided now (no interfaces read yet, or the desired state is refused); what runs goes on. */
  readonly kind: "run" | "keep";
  /** The file, or null: dhcpd should not run. */
  readonly text: string | null;
  readonly links: readonly string[];
  readonly enlistment: readonly EnlistmentAddress[];
  readonly generation: number | null;
  readonly problems: readonly Problem[];
}

/** What dhcpd should run, from the newest accepted desired state and from where this rack's subnets are attached. */
export function dhcpdGoal(desired: DesiredState | null, local: RackLinks | null): DhcpdGoal {
  if (desired === null) return { kind: "keep", text: null, links: [], enlistment: [], generation: null, problems: [] };
  const enlistment = local === null ? [] : enlistmentAddresses(desired, local);
  const rest = { enlistment, generation: desired.generation };
  if (local === null) return { kind: "keep", text: null, links: [], ...rest, problems: [] };
  const compiled = compileDhcpd(desired, local);
  if (!compiled.ok) return { kind: "keep", text: null, links: [], ...rest, problems: compiled.problems };
  const { interfaces, warnings } = compiled.value;
  return {
    kind: "run",
    text: interfaces.length === 0 ? null : renderDhcpd(compiled.value),
    links: interfaces,
    ...rest,
    problems: warnings,
  };
}

function enlistmentAddresses(desired: DesiredState, local: RackLinks): EnlistmentAddress[] {
  return desired.subnets.flatMap((subnet) => {
    const link = local.links.find(({ subnetId }) => subnetId === subnet.id);
    const own = enlistmentAddress(subnet);
    return link === undefined || own === null ? [] : [{ link: link.name, ...own }];
  });
}
