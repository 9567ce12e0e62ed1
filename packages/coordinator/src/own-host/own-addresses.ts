import { addressFamily, classify, formatProblem, parseInterfaces, type HostInterface, type IpAddress } from "@berth/core";
import { describeError, EnvironmentError, type Clock, type Commands, type Log } from "@berth/host";

/** The addresses by which racks reach a coordinator that listens on all of them: its host's own, judged as a rack's are. Never a virtual one. */
export interface OwnAddresses {
  /** IPv4 first; the newest that were found. */
  list(): readonly IpAddress[];
  /** Looks again now and then until aborted. */
  run(signal: AbortSignal): Promise<void>;
}

export interface OwnAddressesPorts {
  readonly commands: Commands;
  readonly clock: Clock;
  readonly log: Log;
  /** From the region's configuration. */
  readonly addresses: { readonly real: readonly IpAddress[]; readonly vips: readonly IpAddress[] };
  /** What racks showed to be virtual: this host alone cannot tell a VIP with its subnet's own mask from an alias. */
  readonly isVirtual: (address: IpAddress) => boolean;
  /** Listens on `0.0.0.0`: IPv6 addresses lead nowhere. */
  readonly onlyIpv4: boolean;
}

const PERIOD_MS = 15_000;
const TIMEOUT_MS = 10_000;
const REMEDY = "install iproute2, or name the address in link.advertise (--advertise)";

/** Looks once. Throws `own-addresses-unreadable`, `own-address-missing`: without one nobody could be told where to dial. */
export async function createOwnAddresses(ports: OwnAddressesPorts): Promise<OwnAddresses> {
  let found = await findAddresses(ports);
  if (found.length === 0) {
    const remedy = "give this host an address of its own, or name the one to dial in link.advertise (--advertise)";
    throw new EnvironmentError("own-address-missing", "link.listen", "this host has no address of its own to tell racks", {
      remedy,
    });
  }
  const look = async (): Promise<void> => {
    const next = await findAddresses(ports);
    if (next.length === 0 || next.join() === found.join()) return;
    ports.log.info({ before: found, addresses: next }, "this host's own addresses changed; racks are told");
    found = next;
  };
  return {
    list: () => found,
    async run(signal) {
      let failing = false;
      while (!signal.aborted) {
        await ports.clock.sleep(PERIOD_MS, signal).catch((error: unknown) => {
          if (!signal.aborted) throw error; // an aborted sleep is what was asked for
        });
        if (signal.aborted) return;
        try {
          await look();
          failing = false;
        } catch (error) {
          if (!(error instanceof EnvironmentError)) throw error;
          if (!failing)
            ports.log.warn({ error: describeError(error) }, "this host's addresses are not read; the last ones stand");
          failing = true;
        }
      }
    },
  };
}

async function findAddresses({ commands, addresses, isVirtual, onlyIpv4 }: OwnAddressesPorts): Promise<readonly IpAddress[]> {
  const { publish } = classify(await readInterfaces(commands), { real: new Set(addresses.real), vips: new Set(addresses.vips) });
  return publish.filter((address) => !isVirtual(address) && !(onlyIpv4 && addressFamily(address) === 6));
}

async function readInterfaces(commands: Commands): Promise<readonly HostInterface[]> {
  const { status, stdout, stderr } = await commands.run(["ip", "-json", "-details", "address"], { timeoutMs: TIMEOUT_MS });
  if (status !== 0) throw unreadable(`ip ended with ${status ?? "a signal"}: ${stderr.trim().slice(0, 300)}`);
  const interfaces = parseInterfaces(stdout);
  if (!interfaces.ok) throw unreadable(interfaces.problems.map(formatProblem).join("; "));
  if (interfaces.value.length === 0) throw unreadable("ip shows no interface at all");
  return interfaces.value;
}

function unreadable(message: string): EnvironmentError {
  return new EnvironmentError("own-addresses-unreadable", "ip", message, { remedy: REMEDY });
}
