import {
  checkLedger,
  ipAddress,
  parseHardwareAddress,
  type Allocated,
  type AllocateRequest,
  type Allocation,
  type HardwareAddress,
  type Result,
} from "@berth/core";
import { silentLog, type Clock } from "@berth/host";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { By } from "../../../packages/coordinator/src/ledger/asker.js";
import type { Ledger } from "../../../packages/coordinator/src/ledger/ledger.js";
import { openLedger } from "../../../packages/coordinator/src/ledger/open-ledger.js";
import { createSqliteStore } from "../../../packages/coordinator/src/store/sqlite-store.js";
import { Paper } from "./ledger-paper.js";

const CALLERS = 32;
const STEPS = 40;
const MACHINES = 3;
const PREFIXES = new Map([
  [1, "10.0.0.0/25"],
  [2, "10.0.1.0/27"],
]);
const NAMES = Array.from({ length: 40 }, (_, index) => `n${index}`);

/** Numbers that the seed alone decides (mulberry32). */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function nic(caller: number, machine: number, port = 0): HardwareAddress {
  const address = parseHardwareAddress(`02:00:00:${caller.toString(16)}:${machine.toString(16)}:${port.toString(16)}`);
  if (address === null) throw new Error("not a NIC");
  return address;
}

/** One of many callers that do whatever comes to their mind, and write every answer down. */
class Caller {
  private readonly ledger: Ledger;
  private readonly paper: Paper;
  private readonly number: number;
  private readonly pick: (below: number) => number;
  private readonly pass: (minutes: number) => void;
  private requests = 0;

  constructor(world: { ledger: Ledger; paper: Paper; pass: (minutes: number) => void }, number: number, seed: number) {
    this.ledger = world.ledger;
    this.paper = world.paper;
    this.pass = world.pass;
    this.number = number;
    this.pick = chance(seed * 1000 + number);
  }

  async live(): Promise<void> {
    for (let step = 0; step < STEPS; step++) await (this.steps[this.pick(this.steps.length)] ?? this.steps[0])?.();
  }

  /** Listed more than once where it shall happen more often. */
  private readonly steps: readonly (() => Promise<unknown>)[] = [
    () => this.allocate(this.enrollment()),
    () => this.allocate(this.enrollment()),
    () => this.allocate(this.enrollment()),
    () => this.allocate({ kind: "additional", machine: this.own(), key: `k${this.pick(3)}` }),
    () => this.allocate({ kind: "additional", machine: this.own(), name: this.name() }),
    () => this.allocate({ kind: "vip", owners: [this.own()], key: `v${this.pick(5)}`, subnet: "2" }),
    () => this.twiceWithOneKey(),
    () => this.many(),
    () => this.giveBack(),
    () => this.release(),
    () => this.changeMachine(),
    () => this.enlist(),
    () => this.changeOwners(),
    () => this.changeRecords(),
    () => this.changeReservations(),
    () => this.dryRun(),
    () => Promise.resolve(this.pass(this.pick(12))),
  ];

  private own(): HardwareAddress {
    return nic(this.number, this.pick(MACHINES));
  }

  private name(): string {
    return NAMES[this.pick(NAMES.length)] ?? "n";
  }

  private enrollment(): AllocateRequest {
    const address = this.pick(3) === 0 ? ipAddress(`10.0.0.${1 + this.pick(126)}`) : null;
    return { kind: "enroll", nics: [this.own()], subnet: "1", address, ...(this.pick(2) === 0 ? { name: this.name() } : {}) };
  }

  private async allocate(request: AllocateRequest, by?: By): Promise<Result<Allocated>> {
    const result = await this.ledger.allocate(request, by);
    if (result.ok) this.note(result.value);
    else
      this.judge(
        result.problems.map(({ code }) => code),
        request,
      );
    return result;
  }

  private note(value: Allocated): void {
    const { machine } = value as { machine?: Parameters<Paper["machine"]>[0] };
    if (machine !== undefined) this.paper.machine(machine);
    this.paper.give(value.allocation, value.created);
  }

  private judge(codes: readonly string[], request: AllocateRequest): void {
    if (codes[0] === "subnet-exhausted") {
      const subnet = request.subnet === "2" ? 2 : 1;
      expect(this.paper.mayBeExhausted(subnet), `subnet ${subnet} is told as exhausted`).toBe(true);
    }
    if (codes[0] === "address-taken") {
      const held = [...this.paper.allocations.values()].some(({ address }) => address === request.address);
      expect(held, `${request.address ?? ""} is told as taken`).toBe(true);
    }
    expect(codes).not.toContain("nic-on-two-machines");
  }

  /** The reply was lost, the caller asks again, and both requests may be in one commit. */
  private async twiceWithOneKey(): Promise<void> {
    this.requests += 1;
    const by = { actor: `caller-${this.number}`, once: { key: `r${this.requests}`, request: "same" } };
    const request: AllocateRequest = { kind: "additional", machine: this.own() };
    const [first, second] = await Promise.all([this.ledger.allocate(request, by), this.ledger.allocate(request, by)]);
    expect(second).toEqual(first);
    if (first.ok) this.note(first.value);
  }

  private async many(): Promise<void> {
    const items: AllocateRequest[] = [
      this.enrollment(),
      { kind: "additional", machine: this.own(), name: this.name() },
      { kind: "vip", owners: [this.own()], key: `v${this.pick(5)}`, subnet: "2" },
    ];
    const result = await this.ledger.allocateMany(items);
    if (result.ok) for (const value of result.value) this.note(value);
  }

  private async giveBack(): Promise<void> {
    const mine = this.some([...this.paper.allocations.values()].filter(({ kind }) => kind !== "machine"));
    if (mine === undefined) return;
    const result = await this.ledger.releaseAllocation(mine.id);
    if (result.ok) this.paper.takeBack(result.value);
  }

  private async release(): Promise<void> {
    const result = await this.ledger.release(this.own());
    if (result.ok) this.paper.releaseMachine(result.value);
  }

  private async changeMachine(): Promise<void> {
    const machine = this.own();
    const extra = nic(this.number, this.pick(MACHINES), 1 + this.pick(3));
    const changes = [{ name: this.name() }, { name: null }, { addNics: [extra] }, { removeNics: [extra] }];
    const result = await this.ledger.changeMachine(machine, changes[this.pick(changes.length)] ?? {});
    if (!result.ok) return;
    this.paper.machine(result.value);
    // The answer is the machine alone: its addresses' names and NICs are read again.
    for (const held of this.ledger.allocations())
      if (held.machineId === result.value.id && this.paper.allocations.has(held.id)) this.paper.allocations.set(held.id, held);
  }

  private async enlist(): Promise<void> {
    const result = await this.ledger.enlist({ nics: [this.own()] });
    if (result.ok) this.paper.machine(result.value.machine);
  }

  private async changeOwners(): Promise<void> {
    const membership = { vip: `v${this.pick(5)}`, machine: this.own() };
    if (this.pick(2) === 0) {
      const added = await this.ledger.addVipOwner(membership);
      if (added.ok) this.paper.give(added.value, false);
      return;
    }
    const removed = await this.ledger.removeVipOwner(membership);
    if (!removed.ok) return;
    if (removed.value.owners.length === 0) this.paper.takeBack(removed.value);
    else this.paper.give(removed.value, false);
  }

  private async changeRecords(): Promise<void> {
    const old = this.some([...this.paper.records.values()]);
    if (old !== undefined && this.pick(2) === 0) {
      const removed = await this.ledger.removeRecord(old.id);
      if (removed.ok) expect(this.paper.records.delete(removed.value.id)).toBe(true);
      return;
    }
    const name = `${this.name()}.rack.example`;
    const types = [
      { type: "CNAME", value: `${this.name()}.rack.example` },
      { type: "A", value: "192.0.2.1" },
      { type: "TXT", value: "x" },
    ] as const;
    const added = await this.ledger.addRecord({ name, ...(types[this.pick(types.length)] ?? types[0]) });
    if (added.ok) this.paper.records.set(added.value.record.id, added.value.record);
  }

  private async changeReservations(): Promise<void> {
    const old = this.some([...this.paper.reservations.values()]);
    if (old !== undefined && this.pick(3) > 0) {
      const removed = await this.ledger.unreserve(old.id);
      if (removed.ok) expect(this.paper.reservations.delete(removed.value.id)).toBe(true);
      return;
    }
    const first = ipAddress(`10.0.0.${1 + this.pick(120)}`);
    const added = await this.ledger.reserve({ kind: "reservation", first });
    if (!added.ok) return;
    const { reservation } = added.value;
    const over = [...this.paper.allocations.values()].filter(({ address }) => address === reservation.first);
    expect(over).toEqual([]);
    this.paper.reservations.set(reservation.id, reservation);
  }

  private async dryRun(): Promise<void> {
    await this.ledger.allocate(this.enrollment(), { actor: "dry", dryRun: true });
    await this.ledger.release(this.own(), { actor: "dry", dryRun: true });
  }

  private some<T>(all: readonly T[]): T | undefined {
    return all[this.pick(Math.max(all.length, 1))];
  }
}

const byId = (all: Iterable<{ readonly id: string }>): unknown => [...all].toSorted((a, b) => (a.id < b.id ? -1 : 1));

test.each([1, 2, 3])(
  "seed %i: 32 parallel callers never get an address twice, and what they were told is what is there",
  async (seed) => {
    const folder = await mkdtemp(join(tmpdir(), "berth-history-"));
    let now = 1_796_040_000_000;
    const clock: Clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
    const ports = { clock, log: silentLog };
    const store = await createSqliteStore(folder, ports);
    const ledger = await openLedger({ ...ports, store, racks: () => [] });
    for (const prefix of PREFIXES.values()) await ledger.createSubnet({ prefix, domain: "rack.example", mode: "static" });
    const paper = new Paper(PREFIXES);
    const world = { ledger, paper, pass: (minutes: number) => (now += minutes * 60_000) };
    await Promise.all(Array.from({ length: CALLERS }, (_, number) => new Caller(world, number, seed).live()));
    await ledger.settled();
    const held = (all: readonly Allocation[]): unknown => byId(all);
    expect(held(ledger.allocations())).toEqual(byId(paper.allocations.values()));
    expect(byId(ledger.machines())).toEqual(byId(paper.machines.values()));
    expect(byId(ledger.records())).toEqual(byId(paper.records.values()));
    expect(byId(ledger.reservations())).toEqual(byId(paper.reservations.values()));
    expect(paper.allocations.size).toBeGreaterThan(20);
    await store.close();
    const again = await createSqliteStore(folder, ports);
    const { content } = await again.ledger.load();
    await again.close();
    await rm(folder, { recursive: true });
    expect(checkLedger(content)).toEqual([]);
    expect(byId(content.allocations)).toEqual(byId(paper.allocations.values()));
    expect(byId(content.machines)).toEqual(byId(paper.machines.values()));
  },
);
