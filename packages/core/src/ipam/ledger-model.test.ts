import fc from "fast-check";
import { expect, test } from "vitest";
import { Desk, leaseOf, MINUTE, nic, rackOf } from "../../../../test/fixtures/alloc/build.js";
import { ipAddress, ipv4FromNumber, ipv4Number, type IpAddress } from "../address/ip.js";
import { rangeContains } from "../address/prefix.js";
import { changeSubnet } from "./declare-subnet.js";
import { LedgerState, undoOf } from "./ledger-state.js";

/** What a person would keep on paper: who has what, who had what and since when, and what is out of bounds. */
class Paper {
  readonly holders = new Map<IpAddress, number>();
  readonly released = new Map<IpAddress, { readonly by: number; readonly at: number }>();
}

const REST = 30 * MINUTE;
const BASE = ipv4Number(ipAddress("10.0.0.0"));
const SIZE = 32;

type Step =
  | { readonly kind: "enroll"; readonly machine: number; readonly address: number | null }
  | { readonly kind: "release"; readonly machine: number }
  | { readonly kind: "wait"; readonly minutes: number }
  | { readonly kind: "window"; readonly first: number; readonly size: number }
  | { readonly kind: "lease"; readonly address: number; readonly machine: number };

const machine = fc.integer({ min: 1, max: 40 });
const offset = fc.integer({ min: 0, max: SIZE - 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("enroll" as const), machine, address: fc.option(offset, { freq: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("release" as const), machine }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("wait" as const), minutes: fc.integer({ min: 1, max: 40 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("window" as const), first: offset, size: fc.integer({ min: 0, max: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("lease" as const), address: offset, machine }) },
);

class World {
  readonly desk = new Desk();
  readonly paper = new Paper();

  constructor() {
    this.desk.declare({ prefix: "10.0.0.0/27", gateway: ipAddress("10.0.0.1") });
    this.desk.racks = [rackOf("r1", ["10.0.0.2/27"])];
  }

  take(next: Step): void {
    const { desk } = this;
    if (next.kind === "wait") desk.now += next.minutes * MINUTE;
    if (next.kind === "lease")
      desk.racks = [rackOf("r1", ["10.0.0.2/27"], [leaseOf(at(next.address), nic(next.machine), { ends: "never" })])];
    if (next.kind === "window") this.moveWindow(next.first, next.size);
    if (next.kind === "release") this.release(next.machine);
    if (next.kind === "enroll") this.enroll(next.machine, next.address === null ? null : at(next.address));
  }

  /** Whether paper says that this machine may be given this address now. */
  mayGive(address: IpAddress, machine: number): boolean {
    const { desk, paper } = this;
    const subnet = desk.state.spaceOf(1).subnet;
    const position = ipv4Number(address) - BASE;
    if (position <= 2 || position >= SIZE - 1) return false; // network, gateway, rack, broadcast
    if (subnet.window !== null && rangeContains(subnet.window, address)) return false;
    if (paper.holders.has(address)) return false;
    const rests = paper.released.get(address);
    if (rests !== undefined && rests.by !== machine && desk.now < rests.at + REST) return false;
    const lease = desk.racks[0]?.leases.get(address);
    return lease === undefined || lease.hardwareAddress === nic(machine);
  }

  private enroll(machine: number, wish: IpAddress | null): void {
    const { desk, paper } = this;
    const had = [...paper.holders].find(([, holder]) => holder === machine)?.[0];
    const result = desk.enroll({ nics: [nic(machine)], subnet: "1", address: wish });
    if (had !== undefined) {
      expect(result.ok ? result.value : null).toEqual(
        wish === null || wish === had ? expect.objectContaining({ created: false }) : null,
      );
      return;
    }
    const candidates = Array.from({ length: SIZE }, (_, position) => at(position)).filter((address) =>
      this.mayGive(address, machine),
    );
    if (!result.ok) {
      const code = result.problems[0]?.code ?? "";
      // A machine's own lease lets it ask for that very address; a free choice leaves every lease alone.
      const choosable = candidates.filter((address) => desk.racks[0]?.leases.has(address) !== true);
      expect(wish === null ? [code, choosable] : candidates.includes(wish)).toEqual(
        wish === null ? ["subnet-exhausted", []] : false,
      );
      return;
    }
    const { address } = result.value.allocation;
    expect(candidates).toContain(address);
    if (wish === null) this.expectPreference(address, machine, candidates);
    paper.holders.set(address, machine);
    paper.released.delete(address);
  }

  /** The machine's own last address first, then one never given, then the one released longest ago. */
  private expectPreference(address: IpAddress, machine: number, candidates: readonly IpAddress[]): void {
    const { released } = this.paper;
    const own = candidates.filter((candidate) => released.get(candidate)?.by === machine);
    if (own.length > 0) {
      const latest = Math.max(...own.map((candidate) => released.get(candidate)?.at ?? 0));
      expect(released.get(address)).toEqual({ by: machine, at: latest });
      return;
    }
    const others = candidates.filter((candidate) => this.desk.racks[0]?.leases.has(candidate) !== true);
    const oldest = Math.min(...others.map((candidate) => released.get(candidate)?.at ?? 0));
    expect(released.get(address)?.at ?? 0).toBe(oldest);
  }

  private release(machine: number): void {
    const { desk, paper } = this;
    const had = [...paper.holders].find(([, holder]) => holder === machine)?.[0];
    desk.release(nic(machine));
    if (had === undefined) return;
    paper.holders.delete(had);
    paper.released.set(had, { by: machine, at: desk.now });
  }

  private moveWindow(first: number, size: number): void {
    const { desk, paper } = this;
    const window = { first: at(first), last: at(Math.min(first + size, SIZE - 1)) };
    const over = [...paper.holders.keys()].some((address) => rangeContains(window, address));
    const outside = first === 0 || first + size >= SIZE - 1 || rangeContains(window, at(1));
    const result = desk.apply(changeSubnet(desk.state, { id: 1, change: { mode: "window", window } }, desk.now));
    expect(result.ok).toBe(!over && !outside);
  }

  check(): void {
    const { desk, paper } = this;
    const given = [...desk.state.allocations.values()].map(({ address, nics }) => [address, nics[0]]);
    expect(new Map(given as [IpAddress, string][])).toEqual(
      new Map([...paper.holders].map(([address, holder]) => [address, nic(holder)])),
    );
    expect(given).toHaveLength(paper.holders.size);
  }
}

function at(position: number): IpAddress {
  return ipv4FromNumber(BASE + position);
}

test("random histories give what paper allows, prefer what paper prefers, and never give an address twice", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 40, maxLength: 160 }), (steps) => {
      const world = new World();
      for (const next of steps) {
        world.take(next);
        world.check();
      }
    }),
    { numRuns: 150 },
  );
});

test("a state loaded anew, or one that took every change back, is the state it was", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.array(step, { maxLength: 30 }), (before, after) => {
      const world = new World();
      for (const next of before) world.take(next);
      const content = world.desk.state.content();
      expect(sorted(new LedgerState(content).content())).toEqual(sorted(content));
      const { desk } = world;
      const made: Parameters<typeof undoOf>[0][] = [];
      const apply = desk.state.apply.bind(desk.state);
      desk.state.apply = (change) => {
        made.push(change);
        apply(change);
      };
      for (const next of after) world.take(next);
      for (const change of made.toReversed()) apply(undoOf(change));
      expect(sorted(desk.state.content())).toEqual(sorted(content));
      expect(desk.state.allocationByName.size).toBe(content.allocations.length);
      expect(desk.state.machineOfNic.size).toBe(content.machines.flatMap(({ nics }) => nics).length);
    }),
    { numRuns: 60 },
  );
});

function sorted(content: ReturnType<LedgerState["content"]>): unknown {
  const byText = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
  return {
    machines: content.machines.toSorted(byText),
    allocations: content.allocations.toSorted(byText),
    quarantines: content.quarantines.toSorted(byText),
    subnets: content.subnets,
  };
}
