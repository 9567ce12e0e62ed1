import { expect, test } from "vitest";
import { leaseOf, nic } from "../../../../test/fixtures/alloc/build.js";
import type { DesiredState } from "../desired/schema.js";
import type { DaemonStatus } from "../protocol/messages.js";
import { topologyOf } from "../topology/from-rack-views.js";
import type { RackView } from "../topology/rack-view.js";
import { currentProblems, isConverged, regionProblems, viewRack } from "./rack-report.js";

const desired: DesiredState = { format: 1, rack: "r", generation: 4, subnets: [], zones: [], queryFrom: [], forwarders: [] };

function daemon(name: "dhcpd" | "named", state: DaemonStatus["state"]): DaemonStatus {
  return {
    name,
    state,
    desired: null,
    written: null,
    running: null,
    generation: 4,
    problems: [{ code: `${name}-odd`, at: name, message: "odd" }],
  };
}

function rack(accepted: number, daemons: readonly DaemonStatus[]): RackView {
  return {
    ...{ id: "r", name: "r", site: "default", joinedAt: 0, connected: true, lastSeenAt: 0, interfaces: [], interfacesAt: null },
    ...{ leases: new Map(), accepted, daemons, problems: [{ code: "rack-odd", at: "r", message: "odd" }] },
  };
}

test("a rack has converged when it holds the newest generation and no daemon is behind", () => {
  const good = [daemon("dhcpd", "converged"), daemon("named", "off")];
  expect(isConverged(rack(4, good), desired)).toBe(true);
  expect(isConverged(rack(3, good), desired)).toBe(false);
  expect(isConverged(rack(4, []), desired)).toBe(false);
  expect(isConverged(rack(4, good), null)).toBe(false);
  for (const state of ["converging", "failing"] as const)
    expect(isConverged(rack(4, [daemon("dhcpd", state), daemon("named", "converged")]), desired)).toBe(false);
});

test("problems name who reported them, the plan first", () => {
  const problems = currentProblems(
    [rack(4, [daemon("named", "failing")])],
    [{ code: "plan-odd", at: "s", message: "odd", remedy: "mend" }],
  );
  expect(problems.map(({ code, daemon: of, rack: on, source }) => [source, on, of, code])).toEqual([
    ["plan", null, null, "plan-odd"],
    ["rack", "r", null, "rack-odd"],
    ["daemon", "r", "named", "named-odd"],
  ]);
  expect(problems[0]).toHaveProperty("remedy", "mend");
  expect(problems[1]).not.toHaveProperty("remedy");
});

test("a clock that is off is the rack's problem while it is connected, and its leases end by it", () => {
  const HOUR = 3_600_000;
  const ends = 10 * HOUR;
  const lease = leaseOf("192.168.50.9", nic(1), { starts: 0, ends: ends / 1000 });
  const skewed = (clockAheadMs: number | null, connected = true): RackView => ({
    ...rack(4, []),
    ...{ clockAheadMs, connected, problems: [], leases: new Map([[lease.address, lease]]) },
  });
  const inUse = (clockAheadMs: number | null, nowMs: number): number => {
    const view = skewed(clockAheadMs);
    return viewRack(view, { desired: null, topology: topologyOf([view], nowMs), subnets: [], nowMs }).leasesInUse;
  };
  expect([inUse(null, ends - 1), inUse(null, ends)]).toEqual([1, 0]);
  expect([inUse(-HOUR, ends + HOUR - 1), inUse(-HOUR, ends + HOUR)]).toEqual([1, 0]);
  expect([inUse(HOUR, ends - HOUR - 1), inUse(HOUR, ends - HOUR)]).toEqual([1, 0]);
  expect(currentProblems([skewed(-HOUR)], [])).toMatchObject([{ source: "rack", rack: "r", code: "clock-skew" }]);
  for (const well of [skewed(20_000), skewed(null), skewed(-HOUR, false)]) expect(currentProblems([well], [])).toEqual([]);
});

test("the region's own problems are told as such", () => {
  const problem = { code: "store-unwritable", at: "berth.sqlite", message: "full", remedy: "free space" };
  expect(regionProblems([problem])).toEqual([{ source: "region", rack: null, daemon: null, ...problem }]);
});
