import { findRackLinks, type DesiredSubnet, type HostInterface } from "@berth/core";
import type { Clock } from "@berth/host";

/** The host's interfaces as they count: an address on which this rack serves may be gone for a moment without anything being done about it. */
export interface SettledInterfaces {
  /** Null while none were read. */
  current(): readonly HostInterface[] | null;
  /** An address is gone and is given time to come back: `current` is what stood before. */
  isHolding(): boolean;
}

export interface SettledInterfacesPorts {
  readonly clock: Clock;
  /** As the host has them now. */
  seen(): readonly HostInterface[] | null;
  /** What this rack is to serve. */
  subnets(): readonly Pick<DesiredSubnet, "id" | "prefix">[];
}

/**
 * An interface that is configured anew (ifdown and ifup, a driver reload, a DHCP client of the host itself) is without its address for a moment. Given up at once,
 * that would stop dhcpd here and change what every rack of the site serves, twice.
 */
export const HOLD_MS = 5_000;

export function createSettledInterfaces(ports: SettledInterfacesPorts): SettledInterfaces {
  let standing: readonly HostInterface[] | null = null;
  let lostAt: number | null = null;

  function take(seen: readonly HostInterface[] | null): readonly HostInterface[] | null {
    standing = seen;
    lostAt = null;
    return standing;
  }

  return {
    isHolding: () => lostAt !== null,
    current() {
      const seen = ports.seen();
      if (seen === null || standing === null || seen === standing) return take(seen);
      if (!loses(ports.subnets(), standing, seen)) return take(seen);
      const now = ports.clock.monotonic();
      lostAt ??= now;
      return now - lostAt >= HOLD_MS ? take(seen) : standing;
    },
  };
}

/** Is there a subnet that the rack was on before and is not on now? */
function loses(
  subnets: readonly Pick<DesiredSubnet, "id" | "prefix">[],
  before: readonly HostInterface[],
  now: readonly HostInterface[],
): boolean {
  const left = new Set(findRackLinks(subnets, now).links.map(({ subnetId }) => subnetId));
  return findRackLinks(subnets, before).links.some(({ subnetId }) => !left.has(subnetId));
}
