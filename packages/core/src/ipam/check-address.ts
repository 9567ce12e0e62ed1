import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import { prefixContains, rangeContains, unusableName, usableRange } from "../address/prefix.js";
import type { Problem } from "../problem.js";
import { describeHolder, formatRange } from "./check-subnet.js";
import type { Reservation } from "./model.js";
import type { Observed } from "./observed.js";
import { routersOf, type SubnetSpace } from "./subnet-space.js";
import { OBSERVATION_WINDOW_MS, strangerOnWire } from "./wire-sightings.js";

export interface Asked {
  readonly nics: readonly HardwareAddress[];
  readonly observed: Observed;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const ELSEWHERE = "ask for another address, or for none and let Berth choose";

/** Every reason why this address of the subnet cannot be given to these NICs; none means it can. */
export function checkAddress(space: SubnetSpace, address: IpAddress, asked: Asked): readonly Problem[] {
  const { subnet } = space;
  const usable = usableRange(subnet.prefix);
  if (!prefixContains(subnet.prefix, address)) {
    const remedy = `use an address from ${usable.first} to ${usable.last}, or name another subnet`;
    return [problem("address-outside", `${address} is not in ${subnet.prefix}`, remedy)];
  }
  if (!rangeContains(usable, address)) {
    const remedy = `use an address from ${usable.first} to ${usable.last}`;
    return [problem("address-not-for-hosts", `${address} is ${unusableName(subnet.prefix)} of ${subnet.prefix}`, remedy)];
  }
  return [...declaredReasons(space, address), ...givenReasons(space, address, asked)];
}

function declaredReasons(space: SubnetSpace, address: IpAddress): Problem[] {
  const { subnet } = space;
  const problems: Problem[] = [];
  if (subnet.gateway === address)
    problems.push(problem("address-is-gateway", `${address} is the gateway of ${subnet.prefix}`, ELSEWHERE));
  if (routersOf(subnet).includes(address))
    problems.push(problem("address-is-gateway", `${address} is a router of ${subnet.prefix}`, ELSEWHERE));
  for (const kind of ["dns", "ntp"] as const) {
    if (subnet[kind]?.includes(address) !== true) continue;
    problems.push(
      problem("address-is-server", `${address} is a pinned ${kind.toUpperCase()} server of ${subnet.prefix}`, ELSEWHERE),
    );
  }
  for (const reservation of space.reservations) {
    if (rangeContains(reservation, address)) problems.push(reservedBy(reservation, address));
  }
  const reserved = subnet.reserved.find((range) => rangeContains(range, address));
  if (reserved !== undefined) {
    problems.push(problem("address-reserved", `${address} lies in the reserved range ${formatRange(reserved)}`, ELSEWHERE));
  }
  if (subnet.window !== null && rangeContains(subnet.window, address)) {
    const message = `${address} lies in the dynamic window ${formatRange(subnet.window)}`;
    problems.push(problem("address-in-window", message, "ask for an address outside the window, or shrink the window first"));
  }
  return problems;
}

function reservedBy({ id, kind, note, first, last }: Reservation, address: IpAddress): Problem {
  const where = first === last ? "" : `, part of ${formatRange({ first, last })}`;
  const why = note === "" ? "" : `: ${note}`;
  const message = `${address} is ${kind === "reservation" ? "reserved" : "excluded"} (${id})${where}${why}`;
  return problem("address-reserved", message, `ask for another address, or remove it with \`berth reservation remove ${id}\``);
}

function givenReasons(space: SubnetSpace, address: IpAddress, { nics, observed, now }: Asked): Problem[] {
  const problems: Problem[] = [];
  const allocation = space.allocations.get(address);
  if (allocation !== undefined) {
    problems.push(problem("address-taken", `${address} belongs to ${describeHolder(allocation)}`, ELSEWHERE));
  }
  const rests = space.rest.get(address);
  if (rests !== undefined && !rests.nics.some((nic) => nics.includes(nic))) {
    const who = rests.nics[0] ?? "its last holder";
    const stillServed = observed.stillServed(space.subnet, rests);
    const rest = rests.until > now ? `it rests until ${new Date(rests.until).toISOString()}` : stillServed;
    if (rest !== null) problems.push(problem("address-resting", `${address} was released by ${who}: ${rest}`, ELSEWHERE));
  }
  const holder = observed.holder(space.subnet.site, address, nics);
  if (holder !== null) problems.push(problem(`address-${holder.code}`, `${address} is in use: ${holder.text}`, ELSEWHERE));
  const stranger = strangerOnWire(observed.wire, { site: space.subnet.site, address, nics, former: rests });
  if (stranger !== null && stranger.at + (observed.wireWindowMs ?? OBSERVATION_WINDOW_MS) > now) {
    const who = stranger.hardwareAddresses.join(" and ");
    const message = `${address} was seen on the wire at ${who} on ${new Date(stranger.at).toISOString()}`;
    problems.push(problem("address-held-by-stranger", message, `${ELSEWHERE}; if it is a NIC of the machine, name it too`));
  }
  return problems;
}

function problem(code: string, message: string, remedy: string): Problem {
  return { code, at: "address", message, remedy };
}
