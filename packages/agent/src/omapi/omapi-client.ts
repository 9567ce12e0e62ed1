import {
  endLease,
  openFailover,
  openLease,
  partnerDown,
  readOmapiFailover,
  readOmapiLease,
  refused,
  accepted,
  type HardwareAddress,
  type IpAddress,
  type OmapiFailover,
  type OmapiLease,
  type OmapiMessage,
  type Result,
} from "@berth/core";
import type { Clock } from "@berth/host";
import { withOmapi, type OmapiTarget } from "./omapi-connection.js";

/** The lease that is meant: one that was given anew or renewed since is another. */
export interface LeaseToFree {
  readonly address: IpAddress;
  readonly hardwareAddress: HardwareAddress;
  /** Seconds since 1970. */
  readonly ends: number;
}

/**
 * What Berth asks of a running dhcpd. It looks at leases and ends them, and says that a failover peer is gone; it never makes or deletes hosts, because
 * dhcpd ignores a host of dhcpd.conf for ever after it was deleted this way. Throws what {@link withOmapi} throws.
 */
export interface OmapiClient {
  /** Refuses `omapi-not-found`: the address is in no pool of dhcpd. */
  lookUpLease(address: IpAddress): Promise<Result<OmapiLease>>;
  /** Ends exactly this lease and waits until it is free; refuses `lease-changed` when dhcpd has another one there by now. The client is not told. */
  freeLease(lease: LeaseToFree): Promise<Result<OmapiLease>>;
  failoverState(name: string): Promise<Result<OmapiFailover>>;
  /** The operator's word that the failover peer is down for good; answers the state that follows. */
  setPartnerDown(name: string): Promise<Result<OmapiFailover>>;
}

export function createOmapiClient(target: OmapiTarget, clock: Clock): OmapiClient {
  const lookUp = (address: IpAddress): Promise<Result<OmapiLease>> =>
    withOmapi(target, async (ask) => mapResult(await ask(openLease(address)), readOmapiLease));
  const failoverState = (name: string): Promise<Result<OmapiFailover>> =>
    withOmapi(target, async (ask) => mapResult(await ask(openFailover(name)), readOmapiFailover));
  return {
    lookUpLease: lookUp,
    failoverState,
    async freeLease(lease) {
      const freed = await withOmapi(target, async (ask) => {
        const found = await ask(openLease(lease.address));
        if (!found.ok) return found;
        const now = readOmapiLease(found.value);
        if (now.state !== "active" || now.hardwareAddress !== lease.hardwareAddress || now.ends !== lease.ends) {
          const message = `dhcpd has it as ${now.state} for ${now.hardwareAddress ?? "nobody"} by now`;
          return refused({ code: "lease-changed", at: `lease ${lease.address}`, message });
        }
        const ended = await ask(endLease(now.handle, Math.floor(clock.now() / 1000)));
        return ended.ok ? waitUntilFree(() => ask(openLease(lease.address)), clock) : ended;
      });
      return freed.ok ? accepted(readOmapiLease(freed.value)) : freed;
    },
    async setPartnerDown(name) {
      const set = await withOmapi(target, async (ask) => {
        const found = await ask(openFailover(name));
        return found.ok ? ask(partnerDown(found.value.handle)) : found;
      });
      return set.ok ? failoverState(name) : set;
    },
  };
}

function mapResult<T, U>(result: Result<T>, map: (value: T) => U): Result<U> {
  return result.ok ? accepted(map(result.value)) : result;
}

/** Until dhcpd's own clock has passed the end; the connection's time limit ends a wait in vain. */
async function waitUntilFree(look: () => Promise<Result<OmapiMessage>>, clock: Clock): Promise<Result<OmapiMessage>> {
  for (;;) {
    const found = await look();
    if (!found.ok || readOmapiLease(found.value).state !== "active") return found;
    await clock.sleep(FREE_POLL_MS);
  }
}

const FREE_POLL_MS = 50;
