import { hardwareOctets, isEthernet, type HardwareAddress } from "../address/hardware.js";
import type { IpAddress } from "../address/ip.js";
import { rackLabel } from "../dns/compose.js";
import { checkChosenName, checkHostName, foldName } from "../names/host-name.js";
import { premadeLabel } from "../names/premade.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";
import type { LedgerChange } from "./change.js";
import { checkAddress, type Asked } from "./check-address.js";
import { subnetNamedSo } from "./check-domain.js";
import { describeHolder } from "./check-subnet.js";
import { chooseAddress } from "./choose-address.js";
import { chooseSubnet } from "./choose-subnet.js";
import type { Decision } from "./decision.js";
import { quarantineKey, type LedgerState } from "./ledger-state.js";
import { matchMachine, type Match } from "./match-machine.js";
import type { Allocation, Machine, Subnet } from "./model.js";
import type { Observed } from "./observed.js";
import type { EnrollRequest } from "./request.js";

const NICS_MAX = 16;

export interface Enrollment {
  readonly machine: Machine;
  readonly allocation: Allocation;
  /** False when the machine had this address before. */
  readonly created: boolean;
}

/** What a decision needs from outside the ledger. `now` in milliseconds since 1970; the ids are for new records, unique and unused. */
export interface EnrollContext {
  readonly observed: Observed;
  readonly now: number;
  readonly machineId: string;
  readonly allocationId: string;
}

/**
 * Gives a machine its static address and name in one step. The same request answers the same address again; a specific address that another
 * holds is refused with the holder's name.
 */
export function enrollMachine(state: LedgerState, request: EnrollRequest, context: EnrollContext): Result<Decision<Enrollment>> {
  const nics = [...new Set(request.nics)];
  const wished = request.name === undefined || request.name === null ? null : foldName(request.name);
  const problems = [...checkNics(nics), ...checkWishedName(wished)];
  if (problems.length > 0) return refused(...problems);
  const subnet = chooseSubnet(
    state,
    { subnet: request.subnet ?? null, address: request.address ?? null, nics },
    context.observed,
  );
  if (!subnet.ok) return subnet;
  const match = matchMachine(state, { nics, name: wished, newId: context.machineId, now: context.now });
  if (!match.ok) return match;
  const { machine, changes } = match.value;
  const existing = state
    .allocationsOf(machine.id)
    .find(({ subnetId, kind }) => kind === "machine" && subnetId === subnet.value.id);
  if (existing !== undefined) return keep(existing, match.value, request.address ?? null);
  const allocation = allocate(state, { match: match.value, subnet: subnet.value, address: request.address ?? null }, context);
  if (!allocation.ok) return allocation;
  const rests = state.quarantines.get(quarantineKey({ site: subnet.value.site, address: allocation.value.address }));
  const woken: LedgerChange[] = rests === undefined ? [] : [{ table: "quarantine", before: rests, after: null }];
  return accepted({
    value: { machine, allocation: allocation.value, created: true },
    changes: [...changes, ...woken, { table: "allocation", before: null, after: allocation.value }],
  });
}

function checkNics(nics: readonly HardwareAddress[]): Problem[] {
  if (nics.length === 0) {
    return [
      { code: "nics-missing", at: "nics", message: "a machine needs at least one NIC", remedy: "give its hardware address" },
    ];
  }
  if (nics.length > NICS_MAX) {
    return [
      {
        code: "nics-too-many",
        at: "nics",
        message: `${nics.length} NICs, more than ${NICS_MAX}`,
        remedy: "name the NICs of the bond",
      },
    ];
  }
  return nics.flatMap((nic, index) => {
    const octets = hardwareOctets(nic);
    if (!NIC_OCTETS.has(octets.length)) {
      const message = `${nic} has ${octets.length} octets, a NIC has 6, 8 or 20`;
      return [{ code: "nic-malformed", at: `nics[${index}]`, message, remedy: NIC_REMEDY }];
    }
    const group = isEthernet(nic) && ((octets[0] ?? 0) & 1) === 1;
    if (!group && octets.some((octet) => octet !== 0)) return [];
    const what = group ? "a multicast or broadcast address" : "all zeros";
    const message = `${nic} is ${what}, no NIC has it`;
    return [{ code: "nic-not-unicast", at: `nics[${index}]`, message, remedy: NIC_REMEDY }];
  });
}

/** Ethernet and its kin, EUI-64, IPoIB. */
const NIC_OCTETS: ReadonlySet<number> = new Set([6, 8, 20]);
const NIC_REMEDY = "use the address that `ip link` shows on the machine";

function checkWishedName(name: string | null): Problem[] {
  if (name === null) return [];
  if (!name.includes(".")) return checkHostName(name);
  const message = `'${name.replace(/[^\x20-\x7e]/g, "?").slice(0, 80)}' has a dot`;
  return [{ code: "name-not-label", at: "name", message, remedy: "give the host part alone; the domain is the subnet's" }];
}

/** The machine has an address there already: the same again, or a refusal when another one was asked for. */
function keep(existing: Allocation, { machine, changes }: Match, address: IpAddress | null): Result<Decision<Enrollment>> {
  if (address !== null && address !== existing.address) {
    const message = `${describeHolder(existing)} has ${existing.address} in this subnet already`;
    return refused({
      code: "machine-has-address",
      at: "address",
      message,
      remedy: "release the machine first, then enroll it again",
    });
  }
  const nics = [...new Set([...existing.nics, ...machine.nics])];
  if (nics.length === existing.nics.length)
    return accepted({ value: { machine, allocation: existing, created: false }, changes });
  const allocation: Allocation = { ...existing, nics };
  const widened: LedgerChange = { table: "allocation", before: existing, after: allocation };
  return accepted({ value: { machine, allocation, created: false }, changes: [...changes, widened] });
}

function allocate(
  state: LedgerState,
  { match, subnet, address }: { readonly match: Match; readonly subnet: Subnet; readonly address: IpAddress | null },
  context: EnrollContext,
): Result<Allocation> {
  const { machine } = match;
  const asked: Asked = { nics: machine.nics, observed: context.observed, now: context.now };
  const space = state.spaceOf(subnet.id);
  const problems = address === null ? [] : checkAddress(space, address, asked);
  if (problems.length > 0) return refused(...problems);
  const chosen = address === null ? chooseAddress(state, space, asked) : accepted(address);
  if (!chosen.ok) return chosen;
  const name = nameFor(state, { machine, subnet, address: chosen.value }, context.observed);
  if (!name.ok) return name;
  return accepted({
    id: context.allocationId,
    kind: "machine",
    subnetId: subnet.id,
    address: chosen.value,
    machineId: machine.id,
    nics: machine.nics,
    ownerKey: `machine/${machine.id}/subnet/${subnet.id}`,
    name: name.value,
    owners: [],
    delivery: "both",
    createdAt: context.now,
  });
}

/** The chosen name in the subnet's domain, or the pre-made one. A second address in the same zone keeps its pre-made name. */
function nameFor(
  state: LedgerState,
  { machine, subnet, address }: { readonly machine: Machine; readonly subnet: Subnet; readonly address: IpAddress },
  observed: Observed,
): Result<string> {
  const premade = `${premadeLabel(address)}.${subnet.domain}`;
  if (machine.name === null) return accepted(premade);
  const problems = checkChosenName(machine.name, address);
  if (problems.length > 0) return refused(...problems);
  const rack = observed.racks.find((other) => other.site === subnet.site && rackLabel(other.name) === machine.name);
  if (rack !== undefined) {
    const message = `${machine.name} is the name of rack ${rack.name}'s name server in every domain of its site`;
    return refused({ code: "name-of-rack", at: "name", message, remedy: "choose another name" });
  }
  const name = `${machine.name}.${subnet.domain}`;
  const zone = subnetNamedSo(name, state);
  if (zone !== null) {
    const message = `${name} is the domain of subnet ${zone.id}`;
    return refused({ code: "name-of-domain", at: "name", message, remedy: "choose another name" });
  }
  const holder = state.allocationByName.get(name);
  if (holder === undefined) return accepted(name);
  if (holder.machineId === machine.id) return accepted(premade);
  const message = `${name} is already the name of ${holder.address} (${describeHolder(holder)})`;
  return refused({ code: "name-taken", at: "name", message, remedy: "choose another name" });
}
