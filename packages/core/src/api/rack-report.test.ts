import { expect, test } from "vitest";
import type { DesiredState } from "../desired/schema.js";
import type { DaemonStatus } from "../protocol/messages.js";
import type { RackView } from "../topology/rack-view.js";
import { currentProblems, isConverged } from "./rack-report.js";

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
