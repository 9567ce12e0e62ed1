import type { IpAddress } from "../address/ip.js";
import type { HostInterface } from "../interface/model.js";
import type { Problem } from "../problem.js";
import type { DaemonStatus, HostKnowledge, LeaseReport } from "../protocol/messages.js";

/** All that a region knows of one rack: its identity and its newest observations. Times in milliseconds since 1970. */
export interface RackView {
  /** Made by the agent once, kept on its disk; the identity. Never an address. */
  readonly id: string;
  /** For people; unique in the region. */
  readonly name: string;
  /** Equal private prefixes in two sites are two networks. */
  readonly site: string;
  readonly joinedAt: number;
  readonly connected: boolean;
  /** Last frame of any kind; null before the first. */
  readonly lastSeenAt: number | null;
  /** Newest non-empty interface report, however old: silence makes facts stale, it never deletes them. */
  readonly interfaces: readonly HostInterface[];
  readonly interfacesAt: number | null;
  /** What the host knows beside them; null before its first report to this run of the coordinator. */
  readonly knowledge?: HostKnowledge | null;
  readonly leases: ReadonlyMap<IpAddress, LeaseReport>;
  /** Newest desired state the rack has on its disk, 0 for none. */
  readonly accepted: number;
  readonly daemons: readonly DaemonStatus[];
  /** How far its clock was ahead of the region's when it last said; negative when behind, null before it said. */
  readonly clockAheadMs?: number | null;
  /** Whether its own NTP server answers; null while nobody asked it. */
  readonly ntp?: boolean | null;
  readonly problems: readonly Problem[];
}
