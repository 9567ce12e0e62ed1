import {
  EMPTY_LEDGER,
  enrollMachine,
  findAmong,
  LedgerState,
  observedBy,
  undoOf,
  type HardwareAddress,
  type LedgerChange,
  type RackFinder,
} from "@berth/core";
import { benchMachine, benchSubnet } from "./ledger-fill.js";
import { benchRacks } from "./ledger-racks.js";
import { median, type Measurement } from "./measurement.js";

const PREFIX = "10.7.0.0/16";
const PREFIX6 = "2001:db8:7::/64";
const USABLE = 65_534;
const ROUNDS = 9;
const PICKS = 2000;
const RACKS = 5000;
const FILLS = [0.5, 0.9, 0.99, 0.999];
/** Absolute, beside the ratio. */
const MICROSECONDS_MAX = 10;

/** A ledger, and what made its machines, so that any of them can go again. */
interface Filled {
  readonly state: LedgerState;
  readonly held: LedgerChange[][];
  readonly racks: RackFinder;
  picks: number;
}

/**
 * One whole decision (match, pick, name) in a /16 whose free addresses lie together at the end, or one by one all over it, against the same in an
 * empty one. After each pick the address is taken and another one, at random, is given back: the fill stays, and no key of the ledger's
 * indexes comes again and again, which no real history does. The median of the picks, because their sum tells how often others had the processor.
 */
export function measurePick(): readonly Measurement[] {
  const empty = filled(() => false);
  const layouts = FILLS.flatMap((fill) => [
    { name: `/16 ${fill * 100} % full, free at the end`, ledger: filled((index) => index < USABLE * fill) },
    { name: `/16 ${fill * 100} % full, free all over`, ledger: filled((index) => index % Math.round(1 / (1 - fill)) !== 0) },
  ]);
  layouts.push({ name: `/64 with ${USABLE} given`, ledger: filled(() => true, { prefix: PREFIX6, address: address6 }) });
  const region = filled(() => false, { ...IPV4, racks: benchRacks(RACKS) });
  layouts.push({ name: `/16 in a region of ${RACKS} racks`, ledger: region });
  const ledgers = [empty, ...layouts.map(({ ledger }) => ledger)];
  const times = new Map<Filled, number[]>(ledgers.map((ledger) => [ledger, []]));
  for (let round = -2; round < ROUNDS; round++)
    for (const [ledger, list] of times) {
      const each = microsecondsEach(ledger);
      if (round >= 0) list.push(each); // the first rounds warm the compiler up
    }
  const of = (ledger: Filled): number => median(times.get(ledger) ?? []);
  return layouts.flatMap(({ ledger, name }) => [
    row(`pick in a ${name}`, of(ledger), { anchor: of(empty), anchorName: "empty /16", value: 2 }),
    row(`the same, absolute`, of(ledger), { anchor: 1, anchorName: "one microsecond", value: MICROSECONDS_MAX }),
  ]);
}

function row(
  metric: string,
  ours: number,
  { anchor, anchorName, value }: { readonly anchor: number; readonly anchorName: string; readonly value: number },
): Measurement {
  return { metric, unit: "us", ours, anchor, anchorName, ratio: ours / anchor, bar: { kind: "at-most", value } };
}

const NO_RACKS = findAmong(() => []);
const IPV4 = { prefix: PREFIX, address: (index: number): string => `10.7.${(index + 1) >> 8}.${(index + 1) & 255}` };

function address6(index: number): string {
  return `2001:db8:7::${(index + 1).toString(16)}`;
}

interface Layout {
  readonly prefix: string;
  readonly address: (index: number) => string;
  readonly racks?: RackFinder;
}

function filled(isTaken: (index: number) => boolean, { prefix, address, racks = NO_RACKS }: Layout = IPV4): Filled {
  const subnets = [benchSubnet(1, prefix)];
  const state = new LedgerState({ ...EMPTY_LEDGER, subnets, nextSubnetId: 2 });
  const held: LedgerChange[][] = [];
  for (let index = 0; index < USABLE; index++) {
    if (!isTaken(index)) continue;
    const { allocation, machine } = benchMachine(index, 1, address(index));
    const changes: LedgerChange[] = [
      { table: "machine", before: null, after: machine },
      { table: "allocation", before: null, after: allocation },
    ];
    for (const change of changes) state.apply(change);
    held.push(changes);
  }
  return { state, held, racks, picks: 0 };
}

function microsecondsEach(ledger: Filled): number {
  const { held, racks, state } = ledger;
  const observed = observedBy(racks, 0);
  const elapsed: number[] = [];
  for (let pick = 0; pick < PICKS; pick++) {
    const number = (ledger.picks += 1);
    const nics = [`06:00:00:${hex(number >> 16)}:${hex((number >> 8) & 255)}:${hex(number & 255)}` as HardwareAddress];
    const ids = { machineId: `m-new${number}`, allocationId: `a-new${number}` };
    state.beginTurn();
    const start = process.hrtime.bigint();
    const decision = enrollMachine(state, { nics, subnet: "1" }, { observed, now: 0, ...ids });
    elapsed.push(Number(process.hrtime.bigint() - start));
    if (!decision.ok) throw new Error(decision.problems[0]?.message ?? "refused");
    const taken = [...decision.value.changes];
    for (const change of taken) state.apply(change);
    const place = (number * 48_271) % (held.length + 1);
    const gone = held[place] ?? taken;
    if (gone !== taken) held[place] = taken;
    for (const change of gone.toReversed()) state.apply(undoOf(change));
  }
  return median(elapsed) / 1000;
}

function hex(octet: number): string {
  return octet.toString(16).padStart(2, "0");
}
