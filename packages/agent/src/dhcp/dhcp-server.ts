import type { DaemonStatus, DesiredState, ProbeTarget, Problem } from "@berth/core";
import type { Clock, Log } from "@berth/host";
import type { LeaseFollower } from "../observe/leases/model.js";
import type { Attached, DhcpGoal } from "../reconcile/dhcp-goal.js";

/**
 * A DHCP server that the agent runs. All that is particular to one program (ISC dhcpd for one family, or another server) stands behind this; the
 * reconciler knows files, steps and pauses only.
 */
export interface DhcpServer {
  /** Its name in status, logs and as a service. */
  readonly name: DaemonStatus["name"];
  /** The one file that it is configured by; managed and replaced whole. */
  readonly config: string;
  /** The file that its output goes to. */
  readonly log: string;
  readonly leases: LeaseSource;
  /** What it should run, from the newest accepted desired state and from where this rack's subnets are attached. Pure, and cheap when neither changed. */
  render(desired: DesiredState | null, attached: Attached | null): DhcpGoal;
  /** First line of a file that Berth wrote. */
  readonly header: string;
  /**
   * Has the server's own checker look at a file that is to be served, or at what that changes of the last one that it took, where this says the same. What is
   * served is untouched. Answers the checker's refusal.
   */
  validate(candidate: Candidate): Promise<Problem | null>;
  /** What the running one was last made to run, as handed to `apply`; null when none runs. */
  running(): Promise<string | null>;
  /**
   * Makes it run the file as it lies on disk, and waits until it says that it serves. Answers what stopped it; it may then not run at all, and a file
   * that is known to be good has to be applied.
   */
  apply(what: ApplyRequest): Promise<Problem | null>;
  /** Asks it on each of these links, whatever it says of itself. Takes at most about a second, takes up no address and leaves nothing in the leases. */
  ask(targets: readonly ProbeTarget[]): Promise<ServerAnswer>;
  /** Resolves when it does not run (any more). */
  stop(): Promise<void>;
}

export interface Candidate {
  readonly path: string;
  readonly goal: DhcpGoal;
  /** Resolves when the file lies there whole. */
  readonly written: Promise<void>;
}

export interface ApplyRequest {
  /** Interfaces to serve, by name; never empty. */
  readonly links: readonly string[];
  /** Names file and links; `running` answers it from now on. */
  readonly tag: string;
}

export type ServerAnswer =
  | { readonly kind: "answers" }
  | { readonly kind: "silent"; readonly links: readonly string[] }
  /** It could not be asked, so nothing is known. */
  | { readonly kind: "unasked"; readonly problem: Problem };

/** Where the server keeps its leases, and how they are followed. */
export interface LeaseSource {
  readonly path: string;
  follow(ports: { readonly clock: Clock; readonly log: Log }): LeaseFollower;
}
