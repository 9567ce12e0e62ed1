import type { CliPorts } from "../cli-ports.js";
import type { RangeText } from "./parse-range.js";
import { subnetDhcpChange, type SubnetDhcpOptions } from "./subnet-dhcp-options.js";

/** The options of `berth subnet create` and `set`, as commander hands them on; `none` clears what is there. */
export interface SubnetOptions extends SubnetDhcpOptions {
  readonly domain?: string;
  readonly site?: string;
  readonly gateway?: string;
  readonly mode?: string;
  readonly window?: RangeText | "none";
  readonly reserve?: readonly RangeText[];
  readonly leaseTime?: number;
  readonly maxLeaseTime?: number;
  readonly pool?: string;
  readonly sliceLength?: number;
  readonly enlistLease?: number;
  readonly dns?: readonly string[];
  readonly ntp?: readonly string[];
}

/** The body of the request that they mean: only what was named. */
export async function subnetChange(options: SubnetOptions, ports: CliPorts): Promise<Record<string, unknown>> {
  const { dns, domain, gateway, leaseTime, maxLeaseTime, mode, ntp, reserve, window } = options;
  const enlistment = named({ pool: options.pool, sliceLength: options.sliceLength, leaseTime: options.enlistLease });
  return named({
    domain,
    gateway: gateway === "none" ? null : gateway,
    mode,
    window: window === "none" ? null : window,
    enlistment: Object.keys(enlistment).length === 0 ? undefined : enlistment,
    reserved: reserve,
    leaseTime,
    maxLeaseTime,
    dns: servers(dns),
    ntp: servers(ntp),
    dhcp: await subnetDhcpChange(options, ports),
  });
}

function servers(list: readonly string[] | undefined): readonly string[] | null | undefined {
  return list?.length === 1 && list[0] === "none" ? null : list;
}

function named(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
