import { addressFamily } from "../address/ip.js";
import { prefixContains, prefixFamily, rangeContains, usableRange } from "../address/prefix.js";
import { rangeSize } from "../address/ranges.js";
import { compileBoot, compileOptions } from "../dhcpd/compile-options.js";
import { reviewOptions } from "../dhcpd/review-options.js";
import type { Problem } from "../problem.js";
import type { LedgerState } from "./ledger-state.js";
import type { Subnet } from "./model.js";
import { routersOf } from "./subnet-space.js";

/** Fewer addresses are not worth the talk of two racks about each of them, and one rack would have none. */
const FAILOVER_WINDOW_MIN = 4;

/** What speaks against the DHCP settings of a subnet: what the rack's own review would refuse is refused before it is in the ledger. */
export function checkDhcpSettings(subnet: Subnet, state: LedgerState): Problem[] {
  const { dhcp } = subnet;
  if (dhcp === undefined || prefixFamily(subnet.prefix) !== 4) return [];
  const { failover: _, relay: __, ...settings } = dhcp;
  const plain = { ...subnet, dhcp: settings, dns: [...(subnet.dns ?? [])], ntp: [...(subnet.ntp ?? [])] };
  const declaration = {
    prefix: subnet.prefix,
    options: compileOptions(plain),
    // The longest address a rack may have here stands for the one it has.
    boot: compileBoot(dhcp.boot, usableRange(subnet.prefix).last),
    snippet: dhcp.snippet ?? null,
  };
  return [
    ...reviewOptions(declaration, "dhcp"),
    ...checkRouters(subnet, state),
    ...checkLeaseTime(subnet),
    ...checkFailover(subnet),
    ...checkRelay(subnet),
  ];
}

function checkRouters(subnet: Subnet, state: LedgerState): Problem[] {
  const allocations = state.spaces.get(subnet.id)?.allocations;
  const { window } = subnet;
  return [...new Set(routersOf(subnet))].flatMap((router): Problem[] => {
    const holder = allocations?.get(router);
    if (holder !== undefined) {
      const message = `the router ${router} is given to ${holder.name}`;
      return [{ code: "router-allocated", at: "dhcp.routers", message, remedy: "release that machine first" }];
    }
    if (window === null || !rangeContains(window, router)) return [];
    const message = `the router ${router} lies in the window`;
    return [{ code: "router-in-window", at: "dhcp.routers", message, remedy: "move the window or the router" }];
  });
}

function checkLeaseTime({ dhcp, leaseTime }: Subnet): Problem[] {
  const min = dhcp?.minLeaseTime ?? 0;
  if (min <= leaseTime) return [];
  const message = `minLeaseTime ${min} is above leaseTime ${leaseTime}`;
  return [{ code: "lease-times-inverted", at: "dhcp.minLeaseTime", message, remedy: "lower it or raise leaseTime" }];
}

function checkFailover({ dhcp, mode, window }: Subnet): Problem[] {
  if (dhcp?.failover === undefined || mode !== "window" || window === null) return [];
  if (addressFamily(window.first) !== addressFamily(window.last) || rangeSize(window) >= BigInt(FAILOVER_WINDOW_MIN)) return [];
  const message = `a window of ${rangeSize(window)} addresses cannot be shared by two racks`;
  const remedy = `widen it to ${FAILOVER_WINDOW_MIN} addresses or more, or leave failover out`;
  return [{ code: "failover-window-small", at: "window", message, remedy }];
}

function checkRelay({ dhcp, mode, prefix }: Subnet): Problem[] {
  const servers = dhcp?.relay?.servers ?? [];
  const at = "dhcp.relay";
  const problems = servers.flatMap((server): Problem[] => {
    if (addressFamily(server) !== 4)
      return [{ code: "relay-family", at, message: `${server} is not IPv4`, remedy: "name the racks' IPv4 addresses" }];
    if (!prefixContains(prefix, server)) return [];
    const message = `${server} is in ${prefix} itself: a rack with that address needs no relay`;
    return [{ code: "relay-server-inside", at, message, remedy: "leave the relay out" }];
  });
  if (servers.length === 0 || mode !== "link-local") return problems;
  const message = "the enlistment pool is link-local, and no relay forwards to it";
  return [...problems, { code: "relay-link-local", at, message, remedy: "use mode static or window" }];
}
