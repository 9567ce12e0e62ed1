import { median, type Benchmark, type Measurement } from "./measurement.js";
import { measureChangeLatency } from "./topology-latency.js";
import { createFleet, mergeOne, nextReport, type BenchFleet } from "./topology-fleet.js";

const LARGE = 5000;
const SMALL = 50;
const MERGES = 4000;
const ROUNDS = 9;

/** The bar of the latency is not a ratio but how much later than a bare reader of `ip monitor` we may be. */
const LATENCY_MORE_MS = 50;

export const benchmark: Benchmark = { name: "topology", run: async () => [...mergeCost(), await changeLatency()] };

async function changeLatency(): Promise<Measurement> {
  const { topologyMs, monitorMs, moreMs } = await measureChangeLatency();
  return {
    metric: "address change to the coordinator's topology, p50 (ratio: ms more)",
    unit: "ms",
    ours: topologyMs,
    anchor: monitorMs,
    anchorName: "ip monitor line in C",
    ratio: moreMs,
    bar: { kind: "at-most", value: LATENCY_MORE_MS },
  };
}

/** One rack's report into 5,000 racks with eight addresses each, against the same report into 50. */
function mergeCost(): readonly Measurement[] {
  const [large, small] = [createFleet(LARGE), createFleet(SMALL)];
  const ofOne = compare(large, small, () => 7);
  // Every rack in turn: its facts are not in the processor's cache when its report comes.
  const ofMany = compare(large, small, (fleet, i) => (i * 7919) % fleet.size);
  return [row("merge one rack's report again and again", ofOne), row("merge reports of all racks in turn", ofMany)];
}

function compare(
  large: BenchFleet,
  small: BenchFleet,
  pick: (fleet: BenchFleet, i: number) => number,
): { readonly ours: number; readonly anchor: number } {
  const times = { large: [] as number[], small: [] as number[] };
  for (let round = -2; round < ROUNDS; round++) {
    const [ours, anchor] = [microsecondsEach(large, pick), microsecondsEach(small, pick)];
    if (round < 0) continue; // the first rounds warm the compiler up
    times.large.push(ours);
    times.small.push(anchor);
  }
  return { ours: median(times.large), anchor: median(times.small) };
}

function microsecondsEach(fleet: BenchFleet, pick: (fleet: BenchFleet, i: number) => number): number {
  const reports = Array.from({ length: MERGES }, (_, i) => nextReport(fleet, pick(fleet, i), i % 2 === 0));
  const start = process.hrtime.bigint();
  for (const report of reports) mergeOne(fleet, report);
  return Number(process.hrtime.bigint() - start) / 1000 / MERGES;
}

function row(metric: string, { ours, anchor }: { readonly ours: number; readonly anchor: number }): Measurement {
  return {
    metric: `${metric}, ${LARGE} racks`,
    unit: "us",
    ours,
    anchor,
    anchorName: `${SMALL} racks`,
    ratio: ours / anchor,
    bar: { kind: "at-most", value: 1.5 },
  };
}
