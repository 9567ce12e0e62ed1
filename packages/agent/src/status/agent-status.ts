import type { Activation, DaemonStatus, Problem } from "@berth/core";
import type { LinkStatus } from "../link/link.js";
import type { LeaseFollowerHealth } from "../observe/leases/model.js";

/** What `berth-agent status` shows. */
export interface AgentStatus {
  readonly rack: string;
  readonly name: string;
  readonly version: string;
  readonly pid: number;
  readonly link: LinkStatus;
  /** Generation of the desired state on disk; 0 for none. */
  readonly accepted: number;
  readonly daemons: readonly DaemonStatus[];
  /** What was tried with each of them lately, oldest first. */
  readonly activations: readonly { readonly daemon: string; readonly activations: readonly Activation[] }[];
  /** Of IPv4. */
  readonly leases: LeaseFollowerHealth;
  /** Of IPv6; null where its leases are not followed. */
  readonly leases6: LeaseFollowerHealth | null;
  readonly interfaces: { readonly read: boolean; readonly count: number };
  readonly problems: readonly Problem[];
}
