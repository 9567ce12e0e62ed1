import type { Clock, Log } from "@berth/host";
import type {
  Allocation,
  CurrentProblem,
  DesiredState,
  HardwareAddress,
  IpAddress,
  Problem,
  RackView,
  ReportedLease,
  Result,
  Topology,
  Verification,
} from "@berth/core";
import type { Ledger } from "../ledger/ledger.js";
import type { AuditStore, TopologyStore } from "../store/store.js";
import type { ApiTokens } from "./api-tokens.js";
import type { Auth } from "./token-auth.js";

/** What a host types to join as a rack: shown once, its secret kept only as a digest. `expiresAt` in milliseconds since 1970. */
export interface JoinLine {
  readonly joinLine: string;
  readonly expiresAt: number;
}

export interface JoinLineRequest {
  readonly rack?: string;
  readonly site?: string;
  readonly ttlSeconds: number;
  /** The rack is known, and its host is to be replaced. */
  readonly replace: boolean;
}

/** The decisions of the coordinator, as far as the API shows them. */
export interface ApiPlanner {
  /** The newest desired state of a rack; null when nothing was planned for it. */
  desiredFor(rackId: string): DesiredState | null;
}

/** All that the HTTP API needs of the coordinator. It decides nothing itself. */
export interface ApiPorts {
  readonly ledger: Ledger;
  /** What the wire says of a given address. */
  readonly verification: (allocation: Allocation) => Verification;
  readonly racks: () => readonly RackView[];
  /** What all racks report of a NIC, without a look at each of them. */
  readonly leasesOf: (nic: HardwareAddress) => readonly ReportedLease[];
  /** The same of an address. */
  readonly leasesAt: (address: IpAddress) => readonly ReportedLease[];
  /** Forgets a rack: its facts and its right to connect. */
  readonly removeRack: (rackId: string) => Promise<Result<unknown>>;
  readonly createToken: (request: JoinLineRequest, actor: string) => Promise<Result<JoinLine>>;
  readonly planner: ApiPlanner;
  /** All racks' reports merged, as of now. */
  readonly topology: () => Topology;
  /** Every problem that holds now, each with since when. */
  readonly problems: () => readonly CurrentProblem[];
  /** Moves of virtual addresses, newest first. */
  readonly vipMoves: TopologyStore["moves"];
  readonly audit: Pick<AuditStore, "list" | "newest">;
  readonly auth: Auth;
  readonly apiTokens: Pick<ApiTokens, "list" | "create" | "revoke">;
  readonly clock: Clock;
  readonly log: Log;
  /** Version of the software, for people. */
  readonly version: string;
  /** Why the coordinator cannot answer fully yet; empty when it can. */
  readonly unready?: () => readonly Problem[];
  /** For tests: an answer that its schema does not describe is a failure. */
  readonly checkAnswers?: boolean;
}
