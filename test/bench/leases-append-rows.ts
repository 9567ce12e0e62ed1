import { measureAppendRound, type AppendRound } from "./leases-append.js";
import { median, type Measurement } from "./measurement.js";

const ROUNDS = 5;
const BLOCKS = 4_000;
const ANCHOR = "C inotify + pread";

/** The rows of performance.md for "append seen": latency without rewrites, as they come once an hour, and losses over many of them. */
export async function appendMeasurements(): Promise<readonly Measurement[]> {
  const rounds: AppendRound[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push(await measureAppendRound({ appends: 400, blocks: BLOCKS, rewriteEvery: 0 }));
  }
  const rewritten = await measureAppendRound({ appends: 400, blocks: BLOCKS, rewriteEvery: 50 });
  return [
    latency("append seen, p50", rounds, (round) => round.p50),
    latency("append seen, p95", rounds, (round) => round.p95),
    lost("appends lost", rounds),
    lost("appends lost over 16 rewrites", [rewritten]),
  ];
}

function latency(metric: string, rounds: readonly AppendRound[], of: (round: AppendRound["ours"]) => number): Measurement {
  const ours = median(rounds.map((round) => of(round.ours))) / 1000;
  const anchor = median(rounds.map((round) => of(round.anchor))) / 1000;
  return { metric, unit: "us", ours, anchor, anchorName: ANCHOR, ratio: ours / anchor, bar: { kind: "at-most", value: 3 } };
}

/** Nothing may be lost, so the number itself is compared, not a ratio. */
function lost(metric: string, rounds: readonly AppendRound[]): Measurement {
  const sum = (of: (round: AppendRound) => AppendRound["ours"]): number => rounds.reduce((all, round) => all + of(round).lost, 0);
  const ours = sum((round) => round.ours);
  const anchor = sum((round) => round.anchor);
  return { metric, unit: "", ours, anchor, anchorName: ANCHOR, ratio: ours, bar: { kind: "at-most", value: 0 } };
}
