import type { HostReport, Neighbor } from "@berth/core";
import { createBell, describeError, EnvironmentError, type Clock, type Log } from "@berth/host";
import type { InterfaceObserver } from "../interfaces/interface-observer.js";
import type { LeaseFollower } from "../leases/model.js";
import type { SettledInterfaces } from "./settled-interfaces.js";
import { hostKnowledge, ownHardwareAddresses, type ConfiguredAddresses } from "./host-knowledge.js";

export interface HostReporterPorts {
  readonly addresses: ConfiguredAddresses;
  readonly observer: InterfaceObserver;
  readonly settled: SettledInterfaces;
  readonly follower: LeaseFollower;
  readonly clock: Clock;
  readonly log: Log;
  report(host: HostReport): void;
}

/** Neighbours come and go without a sign; so often they are looked at. */
const NEIGHBORS_MS = 60_000;
/** While an address is given time to come back, so often it is looked whether it did. */
const HOLDING_MS = 500;

/**
 * Tells the region what this host is: its interfaces at once whenever they change, and what it knows beside them (own leases, neighbours) soon
 * after. Equal reports are sent once.
 */
export async function runHostReporter(ports: HostReporterPorts, signal: AbortSignal): Promise<void> {
  const bell = createBell(ports.clock);
  let neighbors: readonly Neighbor[] = [];
  let told = "";
  let interfacesTold: unknown = null;
  const tell = (): void => {
    const interfaces = ports.settled.current();
    if (interfaces === null) return;
    const ownLeases = ports.follower.leasesOf(ownHardwareAddresses(interfaces));
    const knowledge = hostKnowledge(ports.addresses, { interfaces, ownLeases, neighbors });
    const text = JSON.stringify(knowledge);
    if (interfaces === interfacesTold && text === told) return;
    interfacesTold = interfaces;
    told = text;
    ports.report({ interfaces, knowledge });
  };
  const stops = [
    ports.observer.onChange(() => {
      tell();
      bell.ring();
    }),
    ports.follower.onChange(({ upserts }) => {
      const own = ownHardwareAddresses(ports.observer.current() ?? []);
      if (upserts.some(({ hardwareAddress }) => hardwareAddress !== null && own.has(hardwareAddress))) tell();
    }),
  ];
  try {
    while (!signal.aborted) {
      neighbors = (await askNeighbors(ports, signal)) ?? neighbors;
      tell();
      await bell.wait(ports.settled.isHolding() ? HOLDING_MS : NEIGHBORS_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    for (const stop of stops) stop();
  }
}

/** Null when they cannot be read: what was seen before stays. */
async function askNeighbors({ observer, log }: HostReporterPorts, signal: AbortSignal): Promise<readonly Neighbor[] | null> {
  try {
    return await observer.neighbors(signal);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    log.warn({ reason: describeError(error) }, "neighbours not read");
    return null;
  }
}
