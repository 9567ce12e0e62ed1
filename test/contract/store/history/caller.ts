import {
  ipAddress,
  parseHardwareAddress,
  type AllocateRequest,
  type Allocation,
  type HardwareAddress,
  type Result,
} from "@berth/core";
import { seeded } from "./seeded.js";
import type { Commands } from "./commands.js";

/** An answer as its caller got it: an allocation, and whether it was told as new. */
export interface Told {
  readonly allocation: Allocation;
  readonly created: boolean;
}

/** What the callers of one process know of each other's answers. */
export interface Common {
  readonly told: (told: Told) => void;
  readonly allocations: string[];
  readonly records: string[];
  readonly reservations: string[];
}

const MACHINES = 3;
const NAMES = 40;

/** One of many callers that do whatever comes to their mind, all commands of the ledger among it, and tell every answer. */
export class Caller {
  private readonly ledger: Commands;
  private readonly common: Common;
  private readonly number: number;
  private readonly pick: (below: number) => number;
  private requests = 0;

  constructor(world: { readonly ledger: Commands; readonly common: Common }, number: number, seed: number) {
    this.ledger = world.ledger;
    this.common = world.common;
    this.number = number;
    this.pick = seeded(seed * 1000 + number);
  }

  async live(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) await this.some(this.steps)?.();
  }

  /** Listed more than once where it shall happen more often. */
  private readonly steps: readonly (() => Promise<unknown>)[] = [
    () => this.allocate(this.enrollment()),
    () => this.allocate(this.enrollment()),
    () => this.allocate({ kind: "additional", machine: this.own(), key: `k${this.pick(3)}` }),
    () => this.allocate({ kind: "additional", machine: this.own(), name: this.name() }),
    () => this.allocate({ kind: "vip", owners: [this.own()], key: `v${this.pick(5)}`, subnet: "2" }),
    () => this.allocate({ kind: "machine", machine: this.own(), subnet: "2" }),
    () => this.enroll(),
    () => this.import(),
    () => this.twiceWithOneKey(),
    () => this.many(),
    () => this.ledger.releaseAllocation(this.some(this.common.allocations) ?? "none"),
    () => this.ledger.release(this.own()),
    () => this.changeMachine(),
    () => this.ledger.enlist({ nics: [this.own()] }),
    () => this.ledger.addVipOwner({ vip: `v${this.pick(5)}`, machine: this.own() }),
    () => this.ledger.removeVipOwner({ vip: `v${this.pick(5)}`, machine: this.own() }),
    () => this.addRecord(),
    () => this.ledger.removeRecord(this.some(this.common.records) ?? "none"),
    () => this.reserve(),
    () => this.ledger.unreserve(this.some(this.common.reservations) ?? "none"),
    () => this.changeSubnets(),
    () => this.dryRun(),
  ];

  private own(): HardwareAddress {
    return this.nic(this.pick(MACHINES), 0);
  }

  private nic(machine: number, port: number): HardwareAddress {
    const address = parseHardwareAddress(`02:00:00:${this.number.toString(16)}:${machine.toString(16)}:${port.toString(16)}`);
    if (address === null) throw new Error("not a NIC");
    return address;
  }

  private name(): string {
    return `n${this.pick(NAMES)}`;
  }

  private enrollment(): { readonly kind: "enroll" } & AllocateRequest {
    const address = this.pick(3) === 0 ? ipAddress(`10.0.0.${1 + this.pick(126)}`) : null;
    return { kind: "enroll", nics: [this.own()], subnet: "1", address, ...(this.pick(2) === 0 ? { name: this.name() } : {}) };
  }

  private note(result: Result<Told>): void {
    if (!result.ok) return;
    this.common.told({ allocation: result.value.allocation, created: result.value.created });
    this.common.allocations.push(result.value.allocation.id);
  }

  private async allocate(request: AllocateRequest): Promise<void> {
    this.note(await this.ledger.allocate(request));
  }

  private async enroll(): Promise<void> {
    this.note(await this.ledger.enroll({ nics: [this.own()], subnet: "3" }));
  }

  private async import(): Promise<void> {
    const machines = [0, 1].map((machine) => ({ nics: [this.nic(machine, 0)], subnet: "3" }));
    const result = await this.ledger.importAll({ subnets: [], machines });
    if (result.ok) for (const value of result.value.machines) this.note({ ok: true, value });
  }

  private async many(): Promise<void> {
    const items: AllocateRequest[] = [this.enrollment(), { kind: "additional", machine: this.own(), name: this.name() }];
    const result = await this.ledger.allocateMany(items);
    if (result.ok) for (const value of result.value) this.note({ ok: true, value });
  }

  /** The reply was lost, the caller asks again, and both requests may be in one commit. */
  private async twiceWithOneKey(): Promise<void> {
    this.requests += 1;
    const by = { actor: `caller-${this.number}`, once: { key: `r${this.requests}`, request: "same" } };
    const request: AllocateRequest = { kind: "additional", machine: this.own() };
    const [first, second] = await Promise.all([this.ledger.allocate(request, by), this.ledger.allocate(request, by)]);
    if (JSON.stringify(first) !== JSON.stringify(second)) throw new Error("one key, two answers");
    this.note(first);
  }

  private async changeMachine(): Promise<void> {
    const extra = this.nic(this.pick(MACHINES), 1 + this.pick(3));
    const changes = [{ name: this.name() }, { name: null }, { addNics: [extra] }, { removeNics: [extra] }];
    await this.ledger.changeMachine(this.own(), this.some(changes) ?? {});
  }

  private async addRecord(): Promise<void> {
    const types = [
      { type: "CNAME", value: `${this.name()}.rack.example` },
      { type: "A", value: "192.0.2.1" },
      { type: "TXT", value: "x" },
    ] as const;
    const added = await this.ledger.addRecord({ name: `${this.name()}.rack.example`, ...(this.some(types) ?? types[0]) });
    if (added.ok) this.common.records.push(added.value.record.id);
  }

  private async reserve(): Promise<void> {
    const added = await this.ledger.reserve({ kind: "reservation", first: ipAddress(`10.0.0.${1 + this.pick(120)}`) });
    if (added.ok) this.common.reservations.push(added.value.reservation.id);
  }

  private async changeSubnets(): Promise<void> {
    const prefix = `10.9.${this.pick(4)}.0/28`;
    const made = await this.ledger.createSubnet({ prefix, domain: `s${this.pick(4)}.example`, mode: "static" });
    if (!made.ok) return;
    await this.ledger.changeSubnet(made.value.id, { gateway: ipAddress(prefix.replace("0/28", "1")) });
    await this.ledger.removeSubnet(made.value.id);
  }

  private async dryRun(): Promise<void> {
    await this.ledger.allocate(this.enrollment(), { actor: "dry", dryRun: true });
    await this.ledger.release(this.own(), { actor: "dry", dryRun: true });
  }

  private some<T>(all: readonly T[]): T | undefined {
    return all[this.pick(Math.max(all.length, 1))];
  }
}
