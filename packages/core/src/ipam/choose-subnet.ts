import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import { parseIpPrefix, prefixContains } from "../address/prefix.js";
import { accepted, refused, type Result } from "../problem.js";
import { unknownSubnet } from "./declare-subnet.js";
import type { LedgerState } from "./ledger-state.js";
import type { Subnet } from "./model.js";
import type { Observed, Sighting } from "./observed.js";
import { servedSubnets } from "./served-subnets.js";

interface Wanted {
  /** Id or prefix. */
  readonly subnet: string | null;
  readonly address: IpAddress | null;
  readonly nics: readonly HardwareAddress[];
}

/**
 * The subnet that a request means: the one it names, else the one around the address it names, else the one in which the machine has its address
 * already (a repeated request has the same answer when the lease it was seen by is gone), else the one where the machine was seen, else the
 * only one there is.
 */
export function chooseSubnet(state: LedgerState, wanted: Wanted, observed: Observed): Result<Subnet> {
  if (wanted.subnet !== null) return namedSubnet(state, wanted.subnet);
  if (wanted.address !== null) return subnetAround(state, wanted.address);
  const owner = wanted.nics[0] === undefined ? undefined : state.machineOfNic.get(wanted.nics[0]);
  const had = owner === undefined ? undefined : state.allocationsOf(owner.id).find(({ kind }) => kind === "machine");
  if (had !== undefined) return accepted(state.spaceOf(had.subnetId).subnet);
  const sighting = observed.sighting(wanted.nics);
  const seen = sighting === null ? [] : subnetsOfSighting(state, sighting, observed);
  const [only, ...more] = seen;
  if (only !== undefined && more.length === 0) return accepted(only);
  const [onlyDeclared] = state.subnets.values();
  if (only === undefined && onlyDeclared !== undefined && state.subnets.size === 1) return accepted(onlyDeclared);
  const nic = wanted.nics[0] ?? "the machine";
  if (only !== undefined) return ambiguous(seen, `${nic} was seen on a rack that serves`);
  const message = `no rack has seen ${nic}, so its subnet is not known`;
  return refused({
    code: "machine-not-seen",
    at: "subnet",
    message,
    remedy: "name the subnet, boot the machine on its rack first, or import with --only-addressed",
  });
}

function namedSubnet(state: LedgerState, text: string): Result<Subnet> {
  if (/^\d{1,9}$/.test(text)) {
    const subnet = state.subnets.get(Number(text));
    return subnet === undefined ? refused(unknownSubnet(text)) : accepted(subnet);
  }
  const prefix = parseIpPrefix(text, "subnet");
  if (!prefix.ok) return prefix;
  return oneOf(state.subnetsAt(prefix.value), text);
}

function subnetAround(state: LedgerState, address: IpAddress): Result<Subnet> {
  const around = state.subnetsAround(address);
  if (around.length > 0) return oneOf(around, address);
  const message = `${address} is in no declared subnet`;
  return refused({ code: "address-outside", at: "address", message, remedy: "declare its subnet first" });
}

function oneOf(subnets: readonly Subnet[], text: string): Result<Subnet> {
  const [only, ...more] = subnets;
  if (only === undefined) return refused(unknownSubnet(text));
  return more.length === 0 ? accepted(only) : ambiguous(subnets, `${text} means`);
}

function ambiguous(subnets: readonly Subnet[], what: string): Result<Subnet> {
  const names = subnets.map(({ id, prefix, site }) => `${id} (${prefix}, site ${site})`);
  const message = `${what} ${names.length} subnets: ${names.join(", ")}`;
  return refused({ code: "subnet-ambiguous", at: "subnet", message, remedy: "name the subnet by its id" });
}

/**
 * A lease inside a prefix names its subnet, one from an enlistment slice the subnet on whose link the rack gives from that slice. Where no plan
 * tells which that is, it may be any link-local one that the rack serves.
 */
function subnetsOfSighting(state: LedgerState, { rack, lease }: Sighting, observed: Observed): readonly Subnet[] {
  const around = state.subnetHolding(rack.site, lease.address);
  if (around !== null) return [around];
  const planned = state.subnets.get(observed.enlistmentSubnet(rack.id, lease.address) ?? 0);
  if (planned !== undefined) return [planned];
  return servedSubnets([...state.subnets.values()], rack).filter(
    ({ enlistment }) => enlistment !== null && prefixContains(enlistment.pool, lease.address),
  );
}
