import {
  formatProblem,
  ipPrefix,
  parseInterfaces,
  parseNeighbors,
  parseRoutes,
  type HostInterface,
  type HostRoute,
  type Neighbor,
} from "@berth/core";
import { EnvironmentError, type CommandOptions, type CommandResult, type Commands } from "@berth/host";

/** ip answers in 4 ms; one that takes this long hangs. */
const TIMEOUT_MS = 10_000;
const REMEDY = "install iproute2 5.0 or newer and let the agent open netlink sockets";

/**
 * All interfaces of this host with every address, read once. An empty answer is a failed scan (every host has a loopback interface), so
 * it throws {@link EnvironmentError} `interfaces-unreadable`, as does a failing or babbling `ip`.
 */
export async function observeInterfaces(commands: Commands, signal?: AbortSignal): Promise<readonly HostInterface[]> {
  const stdout = (await tryJson(commands, signal)) ?? (await runIp(commands, ["ip", "-details", "address"], signal));
  const interfaces = parseInterfaces(stdout);
  if (!interfaces.ok) throw unreadable(interfaces.problems.map(formatProblem).join("; "));
  if (interfaces.value.length === 0) throw unreadable("ip addr shows no interface at all");
  return interfaces.value;
}

/** Null when this iproute2 is older than its JSON output (4.14) and says so. */
async function tryJson(commands: Commands, signal: AbortSignal | undefined): Promise<string | null> {
  const argv = ["ip", "-json", "-details", "address"] as const;
  const result = await commands.run(argv, options(signal));
  if (result.status !== 0 && /option .*-json.* is unknown/i.test(result.stderr)) return null;
  return outputOf(argv, result);
}

/** Routes of the main table, both families. */
export async function observeRoutes(commands: Commands, signal?: AbortSignal): Promise<readonly HostRoute[]> {
  const ipv4 = parseRoutes(await runIp(commands, ["ip", "-4", "-json", "route"], signal));
  const ipv6 = parseRoutes(await runIp(commands, ["ip", "-6", "-json", "route"], signal));
  if (!ipv4.ok) throw unreadable(ipv4.problems.map(formatProblem).join("; "));
  if (!ipv6.ok) throw unreadable(ipv6.problems.map(formatProblem).join("; "));
  return [...ipv4.value, ...ipv6.value.map(asIpv6Default)];
}

/** A default route without gateway does not say its family. */
function asIpv6Default(route: HostRoute): HostRoute {
  return route.destination === "0.0.0.0/0" ? { ...route, destination: ipPrefix("::/0") } : route;
}

/** Who was seen on the wire, on all interfaces. */
export async function observeNeighbors(commands: Commands, signal?: AbortSignal): Promise<readonly Neighbor[]> {
  const neighbors = parseNeighbors(await runIp(commands, ["ip", "-json", "neigh"], signal));
  if (!neighbors.ok) throw unreadable(neighbors.problems.map(formatProblem).join("; "));
  return neighbors.value;
}

async function runIp(commands: Commands, argv: readonly [string, ...string[]], signal: AbortSignal | undefined): Promise<string> {
  return outputOf(argv, await commands.run(argv, options(signal)));
}

function options(signal: AbortSignal | undefined): CommandOptions {
  return { timeoutMs: TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) };
}

function outputOf(argv: readonly string[], { status, signal, stdout, stderr }: CommandResult): string {
  if (status === 0) return stdout;
  throw unreadable(`${argv.join(" ")} ended with ${status ?? signal}: ${stderr.trim().slice(0, 300)}`);
}

function unreadable(message: string): EnvironmentError {
  return new EnvironmentError("interfaces-unreadable", "ip", message, { remedy: REMEDY });
}
