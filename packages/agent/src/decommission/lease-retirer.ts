import {
  retirementKey,
  retirementsDue,
  type DesiredState,
  type IpAddress,
  type Problem,
  type RackLinks,
  type Retirement,
  type RetirementOutcome,
} from "@berth/core";
import { describeError, EnvironmentError, type Bell, type Clock, type Log } from "@berth/host";
import type { OmapiClient } from "../omapi/omapi-client.js";
import type { WireProber } from "../observe/wire/wire-prober.js";

export interface LeaseRetirerPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly omapi: Pick<OmapiClient, "freeLease">;
  readonly prober: WireProber;
  desired(): DesiredState | null;
  links(): RackLinks | null;
}

/** Frees over OMAPI what the desired state names as retired, as soon as nobody answers there. */
export interface LeaseRetirer {
  /** One look at the newest desired state. Answers how many milliseconds later it wants to look again at the latest. */
  pass(signal: AbortSignal): Promise<number>;
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
    const { address, hardwareAddress } = lease;
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

  /** Of these leases, the addresses at which somebody answers on the wire now. */
  async function answering(due: readonly Retirement[], signal: AbortSignal): Promise<ReadonlySet<IpAddress>> {
    const targets = due.map(({ address, link, source }) => ({ address, interfaceName: link, source }));
    const results = targets.length === 0 ? [] : await ports.prober.probe(targets, signal);
    return new Set(results.flatMap(({ hardwareAddresses, target }) => (hardwareAddresses.length === 0 ? [] : [target.address])));
  }

  return {
    problem: () => problem,
    async pass(signal) {
      const desired = ports.desired();
      const links = ports.links();
      if (desired === null || links === null) return AGAIN_MS;
      const named = new Set((desired.retired ?? []).map(retirementKey));
      for (const key of outcomes.keys()) if (!named.has(key)) outcomes.delete(key);
      problem = null;
      const due = retirementsDue(desired, links, { outcomes, now: ports.clock.now() });
      try {
        const inUse = await answering(due, signal);
        for (const lease of due) {
          const outcome = inUse.has(lease.address) ? "in-use" : await retire(lease);
          outcomes.set(retirementKey(lease), outcome);
          if (outcome === "failed") break; // the others would fail alike
        }
      } catch (error) {
        if (!(error instanceof EnvironmentError)) throw error;
        problem = { code: error.code, at: error.at, message: describeError(error) };
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
    const nextMs = await retirer.pass(signal);
    await ports.bell.wait(nextMs, signal).catch((reason: unknown) => {
      if (!signal.aborted) throw reason;
    });
  }
}
