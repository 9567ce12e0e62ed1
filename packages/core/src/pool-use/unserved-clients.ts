import { type HardwareAddress, parseHardwareAddress } from "../address/hardware.js";
import { parseIpAddress } from "../address/ip.js";
import { prefixContains, prefixFamily } from "../address/prefix.js";
import { QUESTION_HARDWARE_ADDRESS } from "../dhcp-packet/question-hardware-address.js";
import type { Problem } from "../problem.js";
import type { PoolUse } from "./pool-use.js";

/** A machine that asked for an address and has been given none since. Times in milliseconds since 1970. */
export interface UnservedClient {
  readonly hardwareAddress: HardwareAddress;
  /** Interface, or the relay's address. */
  readonly via: string;
  readonly firstAsked: number;
  readonly lastAsked: number;
  /** The last question found no free lease. */
  readonly turnedAway: boolean;
}

/** A client that asked no more for so long has gone: clients ask again within five minutes (dhclient.conf(5), retry). */
const FORGET_MS = 600_000;
/** More clients than that are a storm, and the first ones tell enough. */
const CLIENTS_MAX = 1024;
/** Addresses named in a problem. */
const NAMED_MAX = 4;

/** The client's own host name stands in parentheses and may contain anything, so it is matched to the last one. */
const DISCOVER = /^DHCPDISCOVER from ([0-9a-f:]+)(?: \(.*\))? via ([^\s:]+)(?:: (.*))?$/;
const ACK = /^DHCPACK (?:on|to) \S+ (?:to |\()([0-9a-f:]+)\)?(?: \(.*\))? via ([^\s:]+)/;
/** Any other remark means that dhcpd is not to answer: the partner does, or the client is ignored. */
const TURNED_AWAY = /^(?:network \S+: )?(?:no free leases|peer holds all free leases)\s*$/;

/** Who is still waiting after these lines of dhcpd's log, read at `now`. dhcpd writes no time beside them. */
export function noteDhcpdLog(
  before: readonly UnservedClient[],
  lines: readonly string[],
  now: number,
): readonly UnservedClient[] {
  const after = new Map(before.filter(({ lastAsked }) => now - lastAsked < FORGET_MS).map((client) => [keyOf(client), client]));
  for (const line of lines) {
    const served = clientOf(ACK.exec(line));
    if (served !== null) after.delete(keyOf(served));
    const discover = DISCOVER.exec(line);
    const asking = clientOf(discover);
    const remark = discover?.[3];
    const turnedAway = remark !== undefined && TURNED_AWAY.test(remark);
    if (asking === null || asking.hardwareAddress === QUESTION_HARDWARE_ADDRESS || (remark !== undefined && !turnedAway))
      continue;
    const known = after.get(keyOf(asking));
    if (known === undefined && after.size >= CLIENTS_MAX) continue;
    after.set(keyOf(asking), { ...asking, firstAsked: known?.firstAsked ?? now, lastAsked: now, turnedAway });
  }
  return [...after.values()];
}

/**
 * `no-lease-granted` for each pool whose clients asked for at least `graceMs`: dhcpd had no free lease for them, or nobody at all was given one
 * since. dhcpd is alive all the while: it wrote the lines.
 */
export function unservedProblems(
  clients: readonly UnservedClient[],
  uses: readonly PoolUse[],
  graceMs: number,
): readonly Problem[] {
  const waiting = clients.filter(({ firstAsked, lastAsked }) => lastAsked - firstAsked >= graceMs);
  return uses.flatMap((use): Problem[] => {
    const granted = (use.newestGrant ?? 0) * 1000;
    const here = waiting.filter((client) => asksFor(client, use) && (client.turnedAway || granted < client.firstAsked));
    return here.length === 0 ? [] : [problemOf(here, use)];
  });
}

function problemOf(clients: readonly UnservedClient[], { pool, used, total }: PoolUse): Problem {
  const since = new Date(Math.min(...clients.map(({ firstAsked }) => firstAsked))).toISOString();
  const names = clients.map(({ hardwareAddress }) => hardwareAddress).toSorted();
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : "";
  const isShort = clients.some(({ turnedAway }) => turnedAway);
  const state = `${used} of ${total} addresses are used`;
  return {
    code: "no-lease-granted",
    at: `subnet ${pool.prefix}`,
    message: `dhcpd hears machines that get no lease, since ${since}: ${names.slice(0, NAMED_MAX).join(" ")}${more}; ${isShort ? "it has no free lease, " : ""}${state}`,
    remedy: isShort
      ? "widen the window or slice, shorten its lease time, or give these machines addresses of their own"
      : "see whether dhcpd's offers reach them (switch, VLAN, relay), and whether another DHCP server answers first",
  };
}

/** Directly on the pool's link, or through a relay with an address in its network. What is read is the log of the IPv4 server. */
function asksFor({ via }: UnservedClient, { pool }: PoolUse): boolean {
  if (prefixFamily(pool.prefix) === 6) return false;
  if (pool.interfaceName === via) return true;
  const relay = parseIpAddress(via);
  return relay !== null && prefixContains(pool.prefix, relay);
}

function clientOf(match: RegExpExecArray | null): Pick<UnservedClient, "hardwareAddress" | "via"> | null {
  const hardwareAddress = parseHardwareAddress(match?.[1] ?? "");
  const via = match?.[2];
  return hardwareAddress === null || via === undefined ? null : { hardwareAddress, via };
}

function keyOf({ hardwareAddress, via }: Pick<UnservedClient, "hardwareAddress" | "via">): string {
  return `${hardwareAddress} ${via}`;
}
