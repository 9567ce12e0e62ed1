import { assert } from "../problem.js";

/**
 * The agent's end of the link as a state machine. All times are milliseconds of a clock that never steps back. `connection` numbers the attempts, so
 * that news of an older one is told apart and ignored. `region` is an index into the list of addresses; `failures` counts attempts since the link was healthy.
 */
export type LinkState =
  | { readonly kind: "stopped"; readonly connection: number }
  | {
      readonly kind: "waiting";
      readonly connection: number;
      readonly region: number;
      readonly failures: number;
      readonly until: number;
    }
  /** Connecting, then saying hello; the region has until `deadline` to welcome us. */
  | {
      readonly kind: "dialing" | "greeting";
      readonly connection: number;
      readonly region: number;
      readonly failures: number;
      readonly deadline: number;
    }
  | {
      readonly kind: "connected";
      readonly connection: number;
      readonly region: number;
      readonly failures: number;
      readonly since: number;
      readonly heardAt: number;
      readonly pingAt: number;
    };

export type LinkEvent =
  | { readonly kind: "start" | "stop" | "tick" }
  | { readonly kind: "opened" | "welcomed" | "heard" | "lost"; readonly connection: number };

export type LinkEffect =
  | { readonly kind: "dial"; readonly connection: number; readonly region: number }
  /** Say hello / send everything newest / ask for a sign of life, on this connection. */
  | { readonly kind: "greet" | "synchronise" | "ping"; readonly connection: number }
  | { readonly kind: "hang-up"; readonly connection: number; readonly reason: string };

export interface LinkContext {
  readonly now: number;
  /** Even in [0, 1). */
  readonly random: number;
  /** How many addresses of regions there are; at least one. */
  readonly regions: number;
}

export interface LinkStep {
  readonly state: LinkState;
  readonly effects: readonly LinkEffect[];
}

/** From the first packet to `welcome`. Generous: ten thousand racks may be dialing one region at once. */
export const WELCOME_TIMEOUT_MS = 20_000;
/** Silence after which the agent asks, and after which it gives the link up. */
export const PING_AFTER_MS = 10_000;
export const SILENT_AFTER_MS = 30_000;
/** A link that lived so long was healthy: its loss starts the back-off anew. */
export const HEALTHY_AFTER_MS = 5_000;
/** Full jitter: a wait is even between 0 and base * 2^rounds, at most the cap. Inside a round of the addresses the wait is short. */
export const BACKOFF_BASE_MS = 1_000;
export const BACKOFF_CAP_MS = 30_000;
export const NEXT_REGION_MS = 200;

export const LINK_STOPPED: LinkState = { kind: "stopped", connection: 0 };

/** What happens next. Deterministic; events of a connection that is no longer ours change nothing. */
export function stepLink(state: LinkState, event: LinkEvent, context: LinkContext): LinkStep {
  assert(context.regions > 0, "a link needs the address of a region");
  switch (event.kind) {
    case "start":
      return state.kind === "stopped" ? dial(state.connection, 0, { failures: 0, context }) : stay(state);
    case "stop":
      return { state: { kind: "stopped", connection: state.connection }, effects: hangUp(state, "the agent stops") };
    case "tick":
      return tick(state, context);
    case "opened":
    case "welcomed":
    case "heard":
    case "lost":
      return event.connection === state.connection ? stepConnection(state, event.kind, context) : stay(state);
  }
}

/** When the machine wants its next tick; null for never. */
export function linkWakeAt(state: LinkState): number | null {
  switch (state.kind) {
    case "stopped":
      return null;
    case "waiting":
      return state.until;
    case "dialing":
    case "greeting":
      return state.deadline;
    case "connected":
      return Math.min(state.pingAt, state.heardAt + SILENT_AFTER_MS);
  }
}

function stepConnection(state: LinkState, kind: "opened" | "welcomed" | "heard" | "lost", context: LinkContext): LinkStep {
  const { connection } = state;
  if (kind === "lost") return state.kind === "stopped" || state.kind === "waiting" ? stay(state) : lose(state, context);
  if (kind === "opened" && state.kind === "dialing")
    return { state: { ...state, kind: "greeting" }, effects: [{ kind: "greet", connection }] };
  if (kind === "welcomed" && state.kind === "greeting") {
    const { region, failures } = state;
    const { now } = context;
    return {
      state: { kind: "connected", connection, region, failures, since: now, heardAt: now, pingAt: now + PING_AFTER_MS },
      effects: [{ kind: "synchronise", connection }],
    };
  }
  if (state.kind === "connected") return stay({ ...state, heardAt: context.now, pingAt: context.now + PING_AFTER_MS });
  return stay(state);
}

function tick(state: LinkState, context: LinkContext): LinkStep {
  const { now } = context;
  switch (state.kind) {
    case "stopped":
      return stay(state);
    case "waiting":
      return now < state.until ? stay(state) : dial(state.connection, state.region, { failures: state.failures, context });
    case "dialing":
    case "greeting":
      return now < state.deadline ? stay(state) : giveUp(state, "no welcome in time", context);
    case "connected":
      if (now >= state.heardAt + SILENT_AFTER_MS) return giveUp(state, "the region is silent", context);
      if (now < state.pingAt) return stay(state);
      return { state: { ...state, pingAt: now + PING_AFTER_MS }, effects: [{ kind: "ping", connection: state.connection }] };
  }
}

function giveUp(state: LinkState, reason: string, context: LinkContext): LinkStep {
  const next = lose(state, context);
  return { state: next.state, effects: [...hangUp(state, reason), ...next.effects] };
}

/** A healthy link that broke is dialed again soon, at the same region; anything else moves on to the next address. */
function lose(state: LinkState, context: LinkContext): LinkStep {
  if (state.kind === "stopped" || state.kind === "waiting") return stay(state);
  const { connection, region } = state;
  const healthy = state.kind === "connected" && context.now - state.since >= HEALTHY_AFTER_MS;
  const failures = healthy ? 0 : state.failures + 1;
  const nextRegion = healthy ? region : (region + 1) % context.regions;
  const midRound = !healthy && failures % context.regions !== 0;
  const spread = midRound ? NEXT_REGION_MS : backoff(Math.floor(failures / context.regions));
  const until = context.now + spread * context.random;
  return stay({ kind: "waiting", connection, region: nextRegion, failures, until });
}

/** Upper end of the wait after so many whole rounds of failures. */
function backoff(rounds: number): number {
  return Math.min(BACKOFF_CAP_MS, BACKOFF_BASE_MS * 2 ** Math.min(rounds, 16));
}

function dial(previous: number, region: number, with_: { readonly failures: number; readonly context: LinkContext }): LinkStep {
  const connection = previous + 1;
  const chosen = region % with_.context.regions;
  return {
    state: {
      kind: "dialing",
      connection,
      region: chosen,
      failures: with_.failures,
      deadline: with_.context.now + WELCOME_TIMEOUT_MS,
    },
    effects: [{ kind: "dial", connection, region: chosen }],
  };
}

function hangUp(state: LinkState, reason: string): LinkEffect[] {
  return state.kind === "stopped" || state.kind === "waiting" ? [] : [{ kind: "hang-up", connection: state.connection, reason }];
}

function stay(state: LinkState): LinkStep {
  return { state, effects: [] };
}
