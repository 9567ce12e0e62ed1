import type { CurrentProblem } from "../api/system.js";

/** Something that has happened in a region, as other programs are told. */
export interface Notice {
  /** The same for the same happening, also when it is told twice: `audit-17`, `problem-...`. */
  readonly id: string;
  /** Stable kebab-case: an action of the audit log, or `problem-raised`, `problem-cleared`, `rack-connected`, `rack-silent`, `vip-moved`. */
  readonly type: string;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Who asked; null where nobody did. */
  readonly actor: string | null;
  readonly subject: string;
  readonly detail: unknown;
}

/** What a region looked like at one moment, as far as notices tell of it. */
export interface NoticedState {
  readonly problems: readonly CurrentProblem[];
  readonly racks: readonly { readonly id: string; readonly name: string; readonly connected: boolean }[];
}

/** What happened between two looks. `at` is the time of the second one. */
export function noticesBetween(before: NoticedState, after: NoticedState, at: string): Notice[] {
  return [...problemNotices(before.problems, after.problems, at), ...rackNotices(before.racks, after.racks, at)];
}

function problemNotices(before: readonly CurrentProblem[], after: readonly CurrentProblem[], at: string): Notice[] {
  const [old, young] = [byKey(before), byKey(after)];
  const tell = (type: string, key: string, problem: CurrentProblem, time: string): Notice => {
    return { id: `${type} ${problem.since} ${key}`, type, at: time, actor: null, subject: problem.at, detail: problem };
  };
  return [
    ...[...young].flatMap(([key, problem]) => (old.has(key) ? [] : [tell("problem-raised", key, problem, problem.since)])),
    ...[...old].flatMap(([key, problem]) => (young.has(key) ? [] : [tell("problem-cleared", key, problem, at)])),
  ];
}

/** The same problem, whatever its words: a message may carry a count that moves. */
function byKey(problems: readonly CurrentProblem[]): ReadonlyMap<string, CurrentProblem> {
  return new Map(
    problems.map((problem) => [[problem.source, problem.rack, problem.daemon, problem.code, problem.at].join(" "), problem]),
  );
}

function rackNotices(before: NoticedState["racks"], after: NoticedState["racks"], at: string): Notice[] {
  const old = new Map(before.map((rack) => [rack.id, rack.connected]));
  return after.flatMap(({ connected, id, name }) => {
    if ((old.get(id) ?? false) === connected) return [];
    const type = connected ? "rack-connected" : "rack-silent";
    return [{ id: `${type} ${at} ${id}`, type, at, actor: null, subject: `rack ${name}`, detail: { rack: id } }];
  });
}
