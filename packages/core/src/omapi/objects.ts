import { parseHardwareAddress, type HardwareAddress } from "../address/hardware.js";
import { ipv4FromNumber, type IpAddress } from "../address/ip.js";
import { readOmapiNumber, readOmapiText, type OmapiMessage } from "./message.js";

/** A lease as dhcpd itself has it in memory. */
export interface OmapiLease {
  /** Handle of the object in the connection that looked it up. */
  readonly handle: number;
  readonly address: IpAddress | null;
  readonly state: OmapiLeaseState | "unknown";
  readonly hardwareAddress: HardwareAddress | null;
  /** Seconds since 1970; null where dhcpd tells none. */
  readonly starts: number | null;
  readonly ends: number | null;
}

/** Names of dhcpd's binding states, by number (dhcpd(8), "The lease object"). */
const LEASE_STATES = ["free", "active", "expired", "released", "abandoned", "reset", "backup"] as const;
export type OmapiLeaseState = (typeof LEASE_STATES)[number];

export function readOmapiLease({ handle, object }: OmapiMessage): OmapiLease {
  const address = readOmapiNumber(object.get("ip-address"));
  const hex = Array.from(object.get("hardware-address") ?? [], (octet) => octet.toString(16).padStart(2, "0")).join(":");
  return {
    handle,
    address: address === null ? null : ipv4FromNumber(address),
    state: LEASE_STATES[(readOmapiNumber(object.get("state")) ?? 0) - 1] ?? "unknown",
    hardwareAddress: parseHardwareAddress(hex),
    starts: readOmapiNumber(object.get("starts")),
    ends: readOmapiNumber(object.get("ends")),
  };
}

/** One failover relation as this server sees it. */
export interface OmapiFailover {
  readonly handle: number;
  readonly name: string;
  readonly localState: OmapiFailoverState | "unknown";
  readonly partnerState: OmapiFailoverState | "unknown";
}

/** dhcpd(8), "The failover-state object". */
const FAILOVER_STATES = [
  "startup",
  "normal",
  "communications-interrupted",
  "partner-down",
  "potential-conflict",
  "recover",
  "paused",
  "shutdown",
  "recover-done",
  "resolution-interrupted",
  "conflict-done",
] as const;
export type OmapiFailoverState = (typeof FAILOVER_STATES)[number];

export function readOmapiFailover({ handle, object }: OmapiMessage): OmapiFailover {
  const state = (name: string): OmapiFailoverState | "unknown" =>
    FAILOVER_STATES[(readOmapiNumber(object.get(name)) ?? 0) - 1] ?? "unknown";
  return {
    handle,
    name: readOmapiText(object.get("name")),
    localState: state("local-state"),
    partnerState: state("partner-state"),
  };
}
