import {
  ARPING_SECONDS,
  addressFamily,
  answeringNeighbors,
  arpingAnswers,
  arpingArgv,
  arpingFlavor,
  type ArpingFlavor,
  type HardwareAddress,
  type IpAddress,
  type Neighbor,
} from "@berth/core";
import { EnvironmentError, type Clock, type Commands } from "@berth/host";

export interface WireTarget {
  readonly address: IpAddress;
  readonly interfaceName: string;
  /** This host's own address there, of the same family. */
  readonly source: IpAddress;
}

export interface WireResult {
  readonly target: WireTarget;
  /** Who answered since the question, sorted; empty when nobody did. */
  readonly hardwareAddresses: readonly HardwareAddress[];
}

export interface WireProberPorts {
  readonly commands: Commands;
  readonly clock: Clock;
  readonly neighbors: (signal: AbortSignal) => Promise<readonly Neighbor[]>;
  readonly provoke: (source: IpAddress, targets: readonly IpAddress[], interfaceName: string) => Promise<void>;
}

/** Asks who has addresses on this host's links. */
export interface WireProber {
  /** Throws what kept it from asking: `interfaces-unreadable`, `wire-unreachable`. */
  probe(targets: readonly WireTarget[], signal: AbortSignal): Promise<readonly WireResult[]>;
}

/** Addresses asked for at once: a quarter of the neighbour entries that a kernel keeps without cleaning up (gc_thresh1 is 128). */
export const BATCH = 32;
const ARPINGS_AT_ONCE = 16;
/** The kernel asks three times, a second apart (arp(7), mcast_solicit), then it marks the entry as failed. */
const RESOLVED_MS = 3_200;
const COMMAND_MS = 10_000;

/**
 * Two ways at once: the kernel's own resolution (ARP and NDP), after the entry was flushed, because one that stands may hold the hardware address of a host that
 * left; and for IPv4 an ARP probe by whichever arping is installed, which also tells of a second holder.
 */
export function createWireProber(ports: WireProberPorts): WireProber {
  const { commands, clock } = ports;
  let arping: Promise<ArpingFlavor | null> | null = null;

  async function askKernel(batch: readonly WireTarget[], signal: AbortSignal): Promise<ReadonlyMap<string, HardwareAddress>> {
    const lines = batch.map(({ address, interfaceName }) => `neigh flush to ${address} dev ${interfaceName}\n`);
    // An entry that does not exist is no failure of the flush; one that survives only makes the answer older.
    await commands.run(["ip", "-force", "-batch", "-"], { input: lines.join(""), timeoutMs: COMMAND_MS, signal });
    for (const { source, interfaceName } of new Map(batch.map((target) => [target.source, target])).values()) {
      const own = batch.filter((target) => target.source === source);
      await ports.provoke(
        source,
        own.map(({ address }) => address),
        interfaceName,
      );
    }
    await clock.sleep(RESOLVED_MS, signal);
    const answering = answeringNeighbors(await ports.neighbors(signal));
    return new Map(answering.map((neighbor) => [keyOf(neighbor), neighbor.hardwareAddress]));
  }

  async function askArping(target: WireTarget, flavor: ArpingFlavor, signal: AbortSignal): Promise<readonly HardwareAddress[]> {
    const { stdout } = await commands.run(arpingArgv(flavor, target), { timeoutMs: ARPING_SECONDS * 1000 + COMMAND_MS, signal });
    return arpingAnswers(stdout);
  }

  /** What arping heard, by target; nothing where it is not installed. */
  async function askAllByArp(
    batch: readonly WireTarget[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, readonly HardwareAddress[]>> {
    const heard = new Map<string, readonly HardwareAddress[]>();
    const flavor = await (arping ??= detectArping(commands));
    if (flavor === null) return heard;
    const waiting = batch.filter(({ address }) => addressFamily(address) === 4);
    const worker = async (): Promise<void> => {
      for (let target = waiting.pop(); target !== undefined; target = waiting.pop())
        heard.set(keyOf(target), await askArping(target, flavor, signal));
    };
    await Promise.all(Array.from({ length: ARPINGS_AT_ONCE }, worker));
    return heard;
  }

  return {
    async probe(targets, signal) {
      const results: WireResult[] = [];
      for (let from = 0; from < targets.length; from += BATCH) {
        const batch = targets.slice(from, from + BATCH);
        const [kernel, arp] = await Promise.all([askKernel(batch, signal), askAllByArp(batch, signal)]);
        for (const target of batch) {
          const key = keyOf(target);
          const entry = kernel.get(key);
          const all = new Set([...(entry === undefined ? [] : [entry]), ...(arp.get(key) ?? [])]);
          results.push({ target, hardwareAddresses: [...all].sort() });
        }
      }
      return results;
    },
  };
}

function keyOf({ interfaceName, address }: { readonly interfaceName: string; readonly address: IpAddress }): string {
  return `${interfaceName} ${address}`;
}

/** Null where no arping is installed, or none that we know. */
async function detectArping(commands: Commands): Promise<ArpingFlavor | null> {
  try {
    const { stdout, stderr } = await commands.run(["arping", "-h"], { timeoutMs: COMMAND_MS });
    return arpingFlavor(stdout + stderr);
  } catch (error) {
    if (error instanceof EnvironmentError) return null;
    throw error;
  }
}
