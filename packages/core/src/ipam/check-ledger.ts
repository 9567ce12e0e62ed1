import { prefixContains, prefixesOverlap, rangeContains, unusableName, usableRange } from "../address/prefix.js";
import { checkHostName } from "../names/host-name.js";
import type { Problem } from "../problem.js";
import type { LedgerContent } from "./change.js";
import { checkRecord } from "./check-record.js";
import { LedgerState, quarantineKey } from "./ledger-state.js";
import type { Allocation, Machine, Subnet } from "./model.js";

/** What a ledger must never be, whatever wrote it: every finding, in a stable order; none for a sound one. */
export function checkLedger(content: LedgerContent): readonly Problem[] {
  const review = new Review(content);
  return [
    ...review.keys(),
    ...review.subnets(),
    ...review.machines(),
    ...content.allocations.flatMap((allocation) => review.allocation(allocation)),
    ...review.quarantines(),
    ...review.reservations(),
    ...review.records(),
  ];
}

class Review {
  private readonly content: LedgerContent;
  private readonly subnetOf: ReadonlyMap<number, Subnet>;
  private readonly machineOf: ReadonlyMap<string, Machine>;

  constructor(content: LedgerContent) {
    this.content = content;
    this.subnetOf = new Map(content.subnets.map((subnet) => [subnet.id, subnet]));
    this.machineOf = new Map(content.machines.map((machine) => [machine.id, machine]));
  }

  /** Keys that the schema holds unique. */
  keys(): Problem[] {
    const { subnets, machines, allocations, quarantines, reservations, records } = this.content;
    const site = (id: number): string => this.subnetOf.get(id)?.site ?? "";
    return [
      ...twice(
        "subnet number",
        subnets.map(({ id }) => String(id)),
      ),
      ...twice(
        "machine id",
        machines.map(({ id }) => id),
      ),
      ...twice(
        "NIC",
        machines.flatMap(({ nics }) => nics),
      ),
      ...twice(
        "allocation id",
        allocations.map(({ id }) => id),
      ),
      ...twice(
        "address",
        allocations.map(({ subnetId, address }) => `${address} of site ${site(subnetId)}`),
      ),
      ...twice(
        "owner key",
        allocations.map(({ ownerKey }) => ownerKey),
      ),
      ...twice(
        "name",
        allocations.map(({ name }) => name),
      ),
      ...twice("resting address", quarantines.map(quarantineKey)),
      ...twice(
        "reservation id",
        reservations.map(({ id }) => id),
      ),
      ...twice(
        "record id",
        records.map(({ id }) => id),
      ),
      ...twice(
        "record",
        records.map(({ name, type, value }) => `${name} ${type} ${value}`),
      ),
    ];
  }

  subnets(): Problem[] {
    const { subnets, nextSubnetId } = this.content;
    const problems: Problem[] = [];
    for (const [index, subnet] of subnets.entries()) {
      if (subnet.id >= nextSubnetId)
        problems.push(finding("subnet-number", `subnet ${subnet.id}`, `its number is not below the next one, ${nextSubnetId}`));
      for (const other of subnets.slice(index + 1)) {
        if (other.site !== subnet.site || !prefixesOverlap(other.prefix, subnet.prefix)) continue;
        problems.push(
          finding("subnet-overlaps", `subnet ${subnet.id}`, `${subnet.prefix} overlaps subnet ${other.id}, ${other.prefix}`),
        );
      }
    }
    return problems;
  }

  machines(): Problem[] {
    const holders = new Set(this.content.allocations.map(({ machineId }) => machineId));
    return this.content.machines.flatMap(({ id, nics, state }) => {
      const at = `machine ${id}`;
      const problems = nics.length === 0 ? [finding("nics-missing", at, "it has no NIC")] : [];
      const holds = holders.has(id);
      if (state === "enrolled" && !holds)
        problems.push(finding("machine-without-address", at, "it is enrolled and has no address"));
      if (state !== "enrolled" && holds) problems.push(finding("machine-not-enrolled", at, `it is ${state} and has addresses`));
      return problems;
    });
  }

  allocation(allocation: Allocation): Problem[] {
    const { address, name, subnetId } = allocation;
    const at = `allocation ${allocation.id}`;
    const subnet = this.subnetOf.get(subnetId);
    if (subnet === undefined) return [finding("subnet-unknown", at, `its subnet ${subnetId} is not there`)];
    if (!prefixContains(subnet.prefix, address)) return [finding("address-outside", at, `${address} is not in ${subnet.prefix}`)];
    const problems: Problem[] = [];
    if (!rangeContains(usableRange(subnet.prefix), address))
      problems.push(finding("address-not-for-hosts", at, `${address} is ${unusableName(subnet.prefix)} of ${subnet.prefix}`));
    if (subnet.window !== null && rangeContains(subnet.window, address))
      problems.push(finding("address-in-window", at, `${address} lies in the dynamic window`));
    if (subnet.gateway === address)
      problems.push(finding("address-is-gateway", at, `${address} is the gateway of ${subnet.prefix}`));
    if (!name.endsWith(`.${subnet.domain}`))
      problems.push(finding("name-outside-domain", at, `${name} is not in ${subnet.domain}`));
    problems.push(...checkHostName(name, at));
    return [...problems, ...(allocation.kind === "vip" ? this.owners(allocation) : this.holder(allocation))];
  }

  private owners({ id, owners, machineId, nics }: Allocation): Problem[] {
    const at = `allocation ${id}`;
    const problems = owners.length === 0 ? [finding("owners-missing", at, "the VIP has no owner")] : [];
    if (machineId !== null || nics.length > 0)
      problems.push(finding("vip-of-machine", at, "the VIP belongs to a single machine"));
    for (const owner of owners) {
      const machine = this.machineOf.get(owner);
      if (machine === undefined) problems.push(finding("machine-unknown", at, `its owner ${owner} is not there`));
      else if (machine.state === "released") problems.push(finding("machine-released", at, `its owner ${owner} is released`));
    }
    return [...problems, ...twice(`owner of ${at}`, owners)];
  }

  private holder({ id, machineId, nics, owners }: Allocation): Problem[] {
    const at = `allocation ${id}`;
    const machine = machineId === null ? undefined : this.machineOf.get(machineId);
    if (machine === undefined) return [finding("machine-unknown", at, `its machine ${machineId ?? ""} is not there`)];
    const foreign = nics.filter((nic) => !machine.nics.includes(nic));
    const problems = foreign.map((nic) => finding("nic-unknown", at, `${nic} is no NIC of ${machine.id}`));
    if (owners.length > 0) problems.push(finding("owners-unexpected", at, "only a VIP has owners"));
    return problems;
  }

  quarantines(): Problem[] {
    const given = new Set(
      this.content.allocations.map(({ subnetId, address }) =>
        quarantineKey({ site: this.subnetOf.get(subnetId)?.site ?? "", address }),
      ),
    );
    return this.content.quarantines
      .filter((quarantine) => given.has(quarantineKey(quarantine)))
      .map(({ address }) => finding("address-resting", `address ${address}`, `${address} is given and rests at once`));
  }

  reservations(): Problem[] {
    return this.content.reservations.flatMap(({ id, subnetId, first, last }) => {
      const at = `reservation ${id}`;
      const subnet = this.subnetOf.get(subnetId);
      if (subnet === undefined) return [finding("subnet-unknown", at, `its subnet ${subnetId} is not there`)];
      if (!prefixContains(subnet.prefix, first) || !prefixContains(subnet.prefix, last))
        return [finding("reservation-outside", at, `${first}-${last} is not in ${subnet.prefix}`)];
      return this.content.allocations
        .filter((other) => other.subnetId === subnetId && rangeContains({ first, last }, other.address))
        .map(({ address }) => finding("reservation-over-allocations", at, `it lies over ${address}, which is given`));
    });
  }

  /** Each record is judged beside all the others. */
  records(): Problem[] {
    const { records } = this.content;
    if (records.length === 0 || this.keys().length > 0) return [];
    const known = this.content.allocations.filter(({ subnetId }) => this.subnetOf.has(subnetId));
    const state = new LedgerState({ ...this.content, allocations: known, reservations: [] });
    return records.flatMap((record) => {
      state.apply({ table: "record", before: record, after: null });
      const problems = checkRecord(state, record, null);
      state.apply({ table: "record", before: null, after: record });
      return problems.map((problem) => ({ ...problem, at: `record ${record.id}` }));
    });
  }
}

function twice(what: string, keys: readonly string[]): Problem[] {
  const seen = new Set<string>();
  const doubled = new Set<string>();
  for (const key of keys) {
    if (seen.has(key)) doubled.add(key);
    seen.add(key);
  }
  return [...doubled].sort().map((key) => finding("ledger-duplicate", what, `${what} ${key} is there twice`));
}

function finding(code: string, at: string, message: string): Problem {
  return { code, at, message };
}
