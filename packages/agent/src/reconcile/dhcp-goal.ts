import {
  compileDhcpd,
  compileDhcpd6,
  DhcpdWriter,
  enlistmentAddress,
  probeTargets,
  renderDhcpd6,
  type DesiredState,
  type Dhcpd6Config,
  type DhcpdConfig,
  type DhcpdFile,
  type HostInterface,
  type OmapiSettings,
  type ProbeTarget,
  type Problem,
  type RackLinks,
} from "@berth/core";
import type { EnlistmentAddress } from "./enlistment.js";

export interface DhcpGoal {
  /** `keep`: nothing new can be decided now (no interfaces read yet, or the desired state is refused); what runs goes on. */
  readonly kind: "run" | "keep";
  /** Nothing new can be decided yet: what runs may not be what is wanted. */
  readonly pending: boolean;
  /** The file, or null: dhcpd should not run. */
  readonly text: string | Uint8Array | null;
  /** The same in parts, where these can be checked by themselves. */
  readonly file?: DhcpdFile;
  readonly links: readonly string[];
  /**
   * The links by name and index. dhcpd binds to the interface it finds at its start: one that was made anew under the same name is another, on
   * which it is deaf.
   */
  readonly linkMark: string;
  /** One of the links at least is up: dhcpd does not start on none. */
  readonly canStart: boolean;
  readonly enlistment: readonly EnlistmentAddress[];
  /** Where it can be asked whether it answers. */
  readonly probes: readonly ProbeTarget[];
  readonly generation: number | null;
  readonly problems: readonly Problem[];
}

/** Where a rack is attached now: its subnets' links, and the interfaces as they were read. Null while nothing was read. */
export interface Attached {
  readonly local: RackLinks;
  readonly interfaces: readonly HostInterface[];
}

const KEEP = {
  kind: "keep",
  text: null,
  links: [],
  linkMark: "",
  canStart: true,
  enlistment: [],
  probes: [],
  generation: null,
} as const;

export interface DhcpdWriting {
  readonly omapi?: OmapiSettings | null;
  /** One that has written the last file does it quicker. */
  readonly writer?: DhcpdWriter;
}

/** What dhcpd should run on IPv4, from the newest accepted desired state and from where this rack's subnets are attached. */
export function dhcpdGoal(
  desired: DesiredState | null,
  attached: Attached | null,
  { omapi = null, writer = new DhcpdWriter() }: DhcpdWriting = {},
): DhcpGoal {
  if (desired === null) return { ...KEEP, pending: false, problems: [] };
  if (attached === null) return { ...KEEP, pending: true, problems: [] };
  const compiled = compileDhcpd(desired, attached.local);
  if (!compiled.ok) return { ...KEEP, pending: false, problems: compiled.problems };
  const run = { ...runGoal(compiled.value, desired, attached), enlistment: enlistmentAddresses(desired, attached.local) };
  if (compiled.value.interfaces.length === 0) return { ...run, text: null };
  const file = writer.write(compiled.value, omapi);
  return { ...run, text: file.octets, file };
}

/** The same on IPv6, where nobody is enlisted. */
export function dhcpd6Goal(desired: DesiredState | null, attached: Attached | null): DhcpGoal {
  if (desired === null) return { ...KEEP, pending: false, problems: [] };
  if (attached === null) return { ...KEEP, pending: true, problems: [] };
  const compiled = compileDhcpd6(desired, attached.local);
  if (!compiled.ok) return { ...KEEP, pending: false, problems: compiled.problems };
  return {
    ...runGoal(compiled.value, desired, attached),
    text: compiled.value.interfaces.length === 0 ? null : renderDhcpd6(compiled.value),
    enlistment: [],
  };
}

function runGoal(
  { interfaces: links, sharedNetworks, warnings }: DhcpdConfig | Dhcpd6Config,
  { generation }: DesiredState,
  { local, interfaces }: Attached,
): Omit<DhcpGoal, "text" | "enlistment"> {
  return {
    kind: "run",
    pending: false,
    links,
    linkMark: links.map((name) => `${name}#${indexOf(name, interfaces)}`).join(" "),
    canStart: links.some((name) => isUp(name, interfaces)),
    probes: probeTargets(sharedNetworks, local, interfaces),
    generation,
    problems: warnings,
  };
}

function indexOf(name: string, interfaces: readonly HostInterface[]): number {
  return interfaces.find((item) => item.name === name)?.index ?? 0;
}

/** Flags that are unknown count as up. */
function isUp(name: string, interfaces: readonly HostInterface[]): boolean {
  const flags = interfaces.find((item) => item.name === name)?.flags ?? [];
  return flags.length === 0 || flags.includes("UP");
}

function enlistmentAddresses(desired: DesiredState, local: RackLinks): EnlistmentAddress[] {
  return desired.subnets.flatMap((subnet) => {
    const link = local.links.find(({ subnetId }) => subnetId === subnet.id);
    const own = enlistmentAddress(subnet);
    return link === undefined || own === null ? [] : [{ link: link.name, ...own }];
  });
}
