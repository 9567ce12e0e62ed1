import type { HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import { foldName } from "../names/host-name.js";
import { checkWishedLabel, freeName, premadeName, wishedLabel } from "./allocation-name.js";
import { addressWarnings } from "./choose-address.js";
import { chooseSubnet } from "./choose-subnet.js";
import type { Decision } from "./decision.js";
import { findAllocation } from "./find-allocation.js";
import { findMachine } from "./find-machine.js";
import { keptByKey, ownerKeyProblems, type Allocated, type AllocateContext } from "./keep-allocation.js";
import type { LedgerState } from "./ledger-state.js";
import type { Allocation, Machine, Subnet } from "./model.js";
import type { Observed } from "./observed.js";
import { addAllocation, placeAddress } from "./place-address.js";
import { giveBack } from "./release-machine.js";
import { verdictsOf } from "./served-subnets.js";
import { strangerOnWire } from "./wire-sightings.js";
import type { RackView } from "../topology/rack-view.js";

const OWNERS_MAX = 64;

export interface VipRequest {
  /** Machines by id, name or NIC; at least one. */
  readonly owners: readonly string[];
  /** By id or prefix; left out, the first owner's. */
  readonly subnet?: string | null;
  readonly address?: IpAddress | null;
  /** A label in the subnet's domain; left out, the pre-made name. */
  readonly name?: string | null;
  /** The callers' key for it: the same key answers the same VIP, and whoever repeats it as another owner joins. */
  readonly key?: string | null;
}

/**
 * Gives an address to several machines together. It is in no pool and no host declaration; who holds it now is for them to agree. An address that
 * racks carry as a virtual one may be written down; one that is a rack's real address may not.
 */
export function createVip(state: LedgerState, request: VipRequest, context: AllocateContext): Result<Decision<Allocated>> {
  const label = wishedLabel(request.name);
  const owners = ownersOf(state, request.owners);
  if (!owners.ok) return owners;
  const problems = [...ownerKeyProblems(request.key), ...checkWishedLabel(label)];
  if (problems.length > 0) return refused(...problems);
  const { address = null, key = null } = request;
  const ids = owners.value.map(({ id }) => id);
  const ownerKey = `vip/${key ?? context.allocationId}`;
  const kept = keptByKey(state, { ownerKey, subnet: request.subnet ?? null, address, label });
  if (kept !== null) return kept.ok ? joined(kept.value.value.allocation, ids) : kept;
  const nics = owners.value.flatMap((machine) => machine.nics);
  const subnet = chooseSubnet(state, { subnet: request.subnet ?? null, address, nics }, context.observed);
  if (!subnet.ok) return subnet;
  const mine = address === null ? undefined : state.spaceOf(subnet.value.id).allocations.get(address);
  if (key === null && mine?.kind === "vip" && ids.every((id) => mine.owners.includes(id)))
    return accepted({ value: { allocation: mine, created: false }, changes: [] });
  const place = { site: subnet.value.site, address };
  const counts = (problem: Problem): boolean => {
    if (problem.code === "address-held-by-rack") return isRealSomewhere(context.observed, place.site, address);
    return problem.code !== "address-held-by-stranger" || !isCarriedByOwners(context.observed, place, nics);
  };
  const asked = { nics: [], observed: context.observed, now: context.now };
  const chosen = placeAddress(state, { subnet: subnet.value, address, counts }, asked);
  if (!chosen.ok) return chosen;
  const name = vipName(state, { label, subnet: subnet.value, address: chosen.value }, context.observed);
  if (!name.ok) return name;
  const allocation: Allocation = {
    id: context.allocationId,
    kind: "vip",
    subnetId: subnet.value.id,
    address: chosen.value,
    machineId: null,
    nics: [],
    ownerKey,
    name: name.value,
    owners: ids,
    delivery: "config",
    createdAt: context.now,
  };
  const space = state.spaceOf(allocation.subnetId);
  const warnings = addressWarnings(space, allocation.address, { nics, observed: context.observed });
  const value = { allocation, created: true, ...(warnings.length === 0 ? {} : { warnings }) };
  return accepted({ value, changes: addAllocation(state, allocation) });
}

interface Membership {
  /** The VIP by id, address, name or key. */
  readonly vip: string;
  /** The machine by id, name or NIC. */
  readonly machine: string;
}

/** Adds an owner; one that it has already changes nothing. */
export function addVipOwner(state: LedgerState, { vip, machine }: Membership): Result<Decision<Allocation>> {
  const found = findVip(state, vip);
  if (!found.ok) return found;
  const owner = ownersOf(state, [machine]);
  if (!owner.ok) return owner;
  if (found.value.owners.length >= OWNERS_MAX && !found.value.owners.includes(owner.value[0]?.id ?? ""))
    return refused(tooManyOwners());
  const after = joined(
    found.value,
    owner.value.map(({ id }) => id),
  );
  return after.ok ? accepted({ value: after.value.value.allocation, changes: after.value.changes }) : after;
}

/** Takes an owner away; with the last one the address is freed and rests. One that is none changes nothing. `now` in milliseconds since 1970. */
export function removeVipOwner(state: LedgerState, { vip, machine }: Membership, now: number): Result<Decision<Allocation>> {
  const found = findVip(state, vip);
  if (!found.ok) return found;
  const owner = findMachine(state, machine);
  if (!owner.ok) return owner;
  const before = found.value;
  if (!before.owners.includes(owner.value.id)) return accepted({ value: before, changes: [] });
  const owners = before.owners.filter((id) => id !== owner.value.id);
  const after: Allocation = { ...before, owners };
  if (owners.length === 0) return accepted({ value: after, changes: giveBack(state, before, now) });
  return accepted({ value: after, changes: [{ table: "allocation", before, after }] });
}

function findVip(state: LedgerState, reference: string): Result<Allocation> {
  const found = findAllocation(state, reference);
  if (found.ok && found.value.kind === "vip") return found;
  const byKey = state.allocationByOwner.get(`vip/${reference}`);
  if (byKey !== undefined) return accepted(byKey);
  const byLabel = vipsOfLabel(state, reference);
  if (byLabel[0] !== undefined && byLabel.length === 1) return accepted(byLabel[0]);
  if (byLabel.length > 1) {
    const message = `${byLabel.length} VIPs have a name that begins with it: ${byLabel.map(({ name }) => name).join(", ")}`;
    return refused({ code: "vip-ambiguous", at: "vip", message, remedy: "use the whole name" });
  }
  if (!found.ok && found.problems[0]?.code !== "allocation-unknown") return found;
  const shown = reference.replace(/[^\x20-\x7e]/g, "?").slice(0, 80);
  const message = found.ok ? `${found.value.address} is no VIP` : `there is no VIP '${shown}' in the ledger`;
  return refused({ code: "vip-unknown", at: "vip", message, remedy: "list them with `berth allocation list --kind vip`" });
}

function ownersOf(state: LedgerState, references: readonly string[]): Result<readonly Machine[]> {
  if (references.length === 0) {
    const message = "a VIP needs at least one owner";
    return refused({ code: "owners-missing", at: "owners", message, remedy: "name the machines that share it" });
  }
  const machines: Machine[] = [];
  const problems: Problem[] = [];
  for (const [index, reference] of references.entries()) {
    const at = references.length === 1 ? "machine" : `owners[${index}]`;
    const found = findMachine(state, reference);
    if (!found.ok) problems.push(...found.problems.map((problem) => ({ ...problem, at })));
    else if (found.value.state === "released") {
      const message = `${found.value.name ?? found.value.id} is released`;
      problems.push({ code: "machine-released", at, message, remedy: "enroll it again first" });
    } else if (!machines.some(({ id }) => id === found.value.id)) machines.push(found.value);
  }
  if (machines.length > OWNERS_MAX) problems.push(tooManyOwners());
  return problems.length > 0 ? refused(...problems) : accepted(machines);
}

function tooManyOwners(): Problem {
  return { code: "owners-too-many", at: "owners", message: `a VIP has at most ${OWNERS_MAX} owners` };
}

function joined(before: Allocation, ids: readonly string[]): Result<Decision<Allocated>> {
  const owners = [...new Set([...before.owners, ...ids])];
  if (owners.length > OWNERS_MAX) return refused(tooManyOwners());
  if (owners.length === before.owners.length) return accepted({ value: { allocation: before, created: false }, changes: [] });
  const after: Allocation = { ...before, owners };
  return accepted({ value: { allocation: after, created: false }, changes: [{ table: "allocation", before, after }] });
}

/** Whether all who answered for it on the wire are owners, racks that have it now, or VRRP itself (RFC 9568 §7.3): a VIP that is up may be written down. */
function isCarriedByOwners(
  { racks, wire }: Observed,
  { site, address }: { readonly site: string; readonly address: IpAddress | null },
  nics: readonly HardwareAddress[],
): boolean {
  if (address === null) return false;
  const carriers = racks
    .holding(address)
    .filter((rack) => rack.site === site)
    .flatMap(({ interfaces }) => interfaces.filter(({ addresses }) => addresses.some((entry) => entry.address === address)))
    .flatMap(({ hardwareAddress }) => hardwareAddress ?? []);
  const known = [...nics, ...carriers];
  const stranger = strangerOnWire(wire, { site, address, nics: known, former: undefined });
  return stranger === null || stranger.hardwareAddresses.every((holder) => known.includes(holder) || isVrrp(holder));
}

function isVrrp(holder: HardwareAddress): boolean {
  return holder.startsWith("00:00:5e:00:01:") || holder.startsWith("00:00:5e:00:02:");
}

function isRealSomewhere({ racks }: Observed, site: string, address: IpAddress | null): boolean {
  if (address === null) return false;
  const isReal = (rack: RackView): boolean =>
    verdictsOf(rack).some(({ class: kind, observed }) => kind === "real" && observed.address === address);
  return racks.holding(address).some((rack) => rack.site === site && isReal(rack));
}

function vipName(
  state: LedgerState,
  { label, subnet, address }: { readonly label: string | null; readonly subnet: Subnet; readonly address: IpAddress },
  observed: Observed,
): Result<string> {
  return label === null ? accepted(premadeName(address, subnet)) : freeName(state, { label, subnet, address }, observed);
}

/** Within a domain its first label is what people call a VIP, as they do a machine. */
function vipsOfLabel(state: LedgerState, reference: string): readonly Allocation[] {
  const begin = `${foldName(reference)}.`;
  if (reference.includes(".")) return [];
  return [...state.vips].flatMap((id) => state.allocations.get(id) ?? []).filter(({ name }) => name.startsWith(begin));
}
