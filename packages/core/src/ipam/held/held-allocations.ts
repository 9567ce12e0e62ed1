import type { IpAddress } from "../../address/ip.js";
import type { Allocation } from "../model.js";
import { AllocationCodec } from "./allocation-codec.js";
import { Interned } from "./interned.js";
import { RecordTable, type Lookup } from "./record-table.js";

/** All allocations of a ledger, packed, with the indexes over them but that by address, which each subnet has for itself. */
export class HeldAllocations {
  readonly table: RecordTable<Allocation>;
  readonly byOwner: Lookup<string, Allocation>;
  readonly byName: Lookup<string, Allocation>;
  /** By machine id. */
  readonly byHolder: Lookup<string, Allocation>;
  private readonly codec: AllocationCodec;

  constructor(domainOf: (subnetId: number) => string | null) {
    this.codec = new AllocationCodec(new Interned(), domainOf);
    this.table = new RecordTable(this.codec);
    this.byOwner = this.table.indexBy(({ ownerKey }) => [ownerKey]);
    this.byName = this.table.indexBy(({ name }) => [name]);
    this.byHolder = this.table.indexBy(({ machineId, owners }) => (machineId === null ? owners : [machineId]));
  }

  addressAt(row: number): IpAddress {
    return this.codec.readAddress(this.table.readerAt(row));
  }
}
