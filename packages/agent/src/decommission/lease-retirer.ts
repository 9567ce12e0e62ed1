import {
  retirementKey,
  retirementsDue,
  type DesiredState,
  type Problem,
  type RackLinks,
  type Retirement,
  type RetirementOutcome,
} from "@berth/core";
import { describeError, EnvironmentError, type Bell, type Clock, type Log } from "@berth/host";
import type { OmapiClient } from "../omapi/omapi-client.js";
import type { AskWire } from "./ask-wire.js";

export interface LeaseRetirerPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly omapi: Pick<OmapiClient, "freeLease">;
  readonly askWire: AskWire;
  desired(): DesiredState | null;
  links(): RackLinks | null;
}

/** Frees over OMAPI what the desired state names as retired, as soon as nobody answers there. */
export interface LeaseRetirer {
  /** One look at the newest desired state. Answers how many milliseconds later it wants to look again at the latest. */
  pass(): Promise<number>;
  /** Why dhcpd could not be asked; null when it could, or had not to be. */
  problem(): Problem | null;
}

/** A holder that answered, or a dhcpd that did not, is asked again after this long. */
const AGAIN_MS = 10_000;
const IDLE_MS = 3_600_000;

export function createLeaseRetirer(ports: LeaseRetirerPorts): LeaseRetirer {
  const outcomes = new Map<string, RetirementOutcome>();
  let problem: Problem | null = null;

  async function retire(lease: Retirement): Promise<RetirementOutcome> {
    const { address, hardwareAddress, link } = lease;
    if ((await ports.askWire(link, address)) !== "silent") return "in-use";
    const freed = await ports.omapi.freeLease(lease);
    if (freed.ok) {
      ports.log.info({ address, hardwareAddress }, "freed the lease of a released machine");
      return "done";
    }
    const [refusal] = freed.problems;
    if (refusal !== undefined && !SETTLED.has(refusal.code)) {
      problem = refusal;
      return "failed";
    }
    return "done";
  }

  return {
    problem: () => problem,
    async pass() {
      const desired = ports.desired();
      const links = ports.links();
      if (desired === null || links === null) return AGAIN_MS;
      const named = new Set((desired.retired ?? []).map(retirementKey));
      for (const key of outcomes.keys()) if (!named.has(key)) outcomes.delete(key);
      problem = null;
      for (const lease of retirementsDue(desired, links, { outcomes, now: ports.clock.now() })) {
        const outcome = await retire(lease).catch((error: unknown): RetirementOutcome => {
          if (!(error instanceof EnvironmentError)) throw error;
          problem = { code: error.code, at: error.at, message: describeError(error) };
          return "failed";
        });
        outcomes.set(retirementKey(lease), outcome);
        if (outcome === "failed") break; // the others would fail alike
      }
      return retirementsDue(desired, links, { outcomes, now: ports.clock.now() }).length === 0 ? IDLE_MS : AGAIN_MS;
    },
  };
}

/** dhcpd has no such lease any more. */
const SETTLED: ReadonlySet<string> = new Set(["lease-changed", "omapi-not-found"]);

/** Looks at every ring of the bell and whenever the last look asked for it, until aborted. */
export async function runLeaseRetirer(retirer: LeaseRetirer, ports: { readonly bell: Bell }, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const nextMs = await retirer.pass();
    await ports.bell.wait(nextMs, signal).catch((reason: unknown) => {
      if (!signal.aborted) throw reason;
    });
  }
}
