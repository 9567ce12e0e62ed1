import { silentLog } from "@berth/host";
import { createFakeClock, createMemoryFiles } from "@berth/host/fakes";
import { expect, it } from "vitest";
import type { DhcpServer } from "../dhcp/dhcp-server.js";
import { openActivationHistory } from "./activation-history.js";
import { createDhcpReconciler, type DhcpPorts } from "./dhcp.js";
import { dhcpdGoal } from "./dhcp-goal.js";
import { IDLE_MS } from "./reconciler.js";

/** A rack that has nothing to serve, and whose server is as it should be: off. */
async function offRack(goal: Partial<ReturnType<DhcpServer["render"]>>): Promise<DhcpPorts> {
  const [clock, files] = [createFakeClock(0), createMemoryFiles()];
  const never = (): never => {
    throw new Error("an off server is not touched");
  };
  const server: DhcpServer = {
    ...{ name: "dhcpd6", config: "/etc/dhcpd6.conf", log: "/nowhere/dhcpd6.log", header: "" },
    leases: { path: "/leases", follow: never },
    render: () => ({ ...dhcpdGoal(null, null), ...goal }),
    running: () => Promise.resolve(null),
    ...{ validate: never, apply: never, ask: never, stop: never },
  };
  return {
    ...{ server, files, clock, log: silentLog, enlistment: null, desired: () => null, attached: () => null },
    history: await openActivationHistory({ files, clock, log: silentLog, path: "/history.json" }),
    file: {
      candidate: "/candidate",
      look: () => Promise.resolve({ written: null, left: null }),
      ...{ prepare: never, replaceByCandidate: never, noteGood: never, noteHeard: never, lastGood: never, restoreGood: never },
      wasHeard: () => false,
    },
  };
}

it.each(["run", "keep"] as const)("looks seldom at a server that is off and stays so (%s)", async (kind) => {
  const reconciler = createDhcpReconciler(await offRack({ kind, generation: 1 }));
  expect(await reconciler.pass()).toBe(IDLE_MS);
  expect(await reconciler.pass()).toBe(IDLE_MS);
  expect(reconciler.status()).toMatchObject({ name: "dhcpd6", state: "off", problems: [] });
});
