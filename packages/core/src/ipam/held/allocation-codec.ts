import type { OctetReader } from "../../packed/octet-reader.js";
import type { OctetWriter } from "../../packed/octet-writer.js";
import type { RowCodec } from "../../packed/row-table.js";
import { premadeLabel } from "../../names/premade.js";
import type { IpAddress } from "../../address/ip.js";
import type { Allocation } from "../model.js";
import type { Interned } from "./interned.js";
import { readAddress, readNics, writeAddress, writeNics } from "./octets-of-addresses.js";

const KINDS = ["machine", "additional", "vip"] as const;
const DELIVERIES = ["dhcp", "config", "both"] as const;

/** How a name is written: as it is, as a label in a domain, or as the pre-made one of the address in a domain. */
const WHOLE = 0;
const LABEL = 1;
const PREMADE = 2;

/** How an owner key is written: as it is, or as what every machine's address in a subnet and every VIP without another has. */
const OF_MACHINE = 1;
const OF_VIP = 2;

/**
 * An allocation in some forty octets: id, shape (what the rest is made of), subnet, address and the rest. What follows from other members is not
 * written out. Domains are few and stand in a table of their own.
 */
export class AllocationCodec implements RowCodec<Allocation> {
  private readonly domains: Interned;
  private readonly domainOf: (subnetId: number) => string | null;

  /** `domainOf` answers the domain that names in a subnet are likely to have; it may be another one later. */
  constructor(domains: Interned, domainOf: (subnetId: number) => string | null) {
    this.domains = domains;
    this.domainOf = domainOf;
  }

  write(allocation: Allocation, to: OctetWriter): void {
    const { address, createdAt, delivery, id, kind, machineId, name, nics, ownerKey, owners, subnetId } = allocation;
    const domain = this.domainOf(subnetId);
    const label = domain !== null && name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : null;
    const named = label === null ? WHOLE : label === premadeLabel(address) ? PREMADE : LABEL;
    const owned = ownerKey === machineKey(machineId, subnetId) ? OF_MACHINE : ownerKey === `vip/${id}` ? OF_VIP : WHOLE;
    to.id(id);
    to.octet((address.includes(":") ? 1 : 0) | (KINDS.indexOf(kind) << 1) | (DELIVERIES.indexOf(delivery) << 3));
    to.octet(named | (owned << 2) | (machineId === null ? 0 : 16) | (owners.length === 0 ? 0 : 32));
    to.count(subnetId);
    writeAddress(address, to);
    if (machineId !== null) to.id(machineId);
    writeNics(nics, to);
    if (owned === WHOLE) to.text(ownerKey);
    if (domain !== null && named !== WHOLE) to.count(this.domains.numberOf(domain));
    if (named !== PREMADE) to.text(label ?? name);
    if (owners.length > 0) to.count(owners.length);
    for (const owner of owners) to.id(owner);
    to.number(createdAt);
  }

  read(from: OctetReader): Allocation {
    const id = from.id();
    const first = from.octet();
    const second = from.octet();
    const subnetId = from.count();
    const address = readAddress((first & 1) === 1 ? 6 : 4, from);
    const machineId = (second & 16) === 0 ? null : from.id();
    const nics = readNics(from);
    const owned = (second >> 2) & 3;
    const ownerKey = owned === WHOLE ? from.text() : owned === OF_VIP ? `vip/${id}` : (machineKey(machineId, subnetId) ?? "");
    const name = this.readName(from, second & 3, address);
    const owners = Array.from({ length: (second & 32) === 0 ? 0 : from.count() }, () => from.id());
    return {
      id,
      kind: KINDS[(first >> 1) & 3] ?? "machine",
      subnetId,
      address,
      machineId,
      nics,
      ownerKey,
      name,
      owners,
      delivery: DELIVERIES[(first >> 3) & 3] ?? "both",
      createdAt: from.number(),
    };
  }

  /** Only the address, of a row that `from` stands at the beginning of. */
  readAddress(from: OctetReader): IpAddress {
    from.id();
    const first = from.octet();
    from.octet();
    from.count();
    return readAddress((first & 1) === 1 ? 6 : 4, from);
  }

  private readName(from: OctetReader, named: number, address: IpAddress): string {
    if (named === WHOLE) return from.text();
    const domain = this.domains.textOf(from.count());
    return `${named === PREMADE ? premadeLabel(address) : from.text()}.${domain}`;
  }
}

function machineKey(machineId: string | null, subnetId: number): string | null {
  return machineId === null ? null : `machine/${machineId}/subnet/${subnetId}`;
}
