import { silentLog } from "@berth/host";
import { createFakeClock, createMemoryFiles } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import type { DhcpServer } from "../dhcp/dhcp-server.js";
import { openActivationHistory } from "./activation-history.js";
import type { DhcpGoal } from "./dhcp-goal.js";
import { createDhcpReconciler } from "./dhcp.js";
import { openManagedConfig } from "./managed-config.js";
import { createFileDigests } from "./named-facts.js";
import { IDLE_MS } from "./reconciler.js";

const nothing: DhcpGoal = {
  kind: "run",
  pending: false,
  text: null,
  links: [],
  linkMark: "",
  enlistment: [],
  probes: [],
  generation: 1,
  problems: [],
};
const keep: DhcpGoal = { ...nothing, kind: "keep", pending: true, generation: null };
const serve: DhcpGoal = { ...nothing, text: "# ours\n", links: ["eth0"], linkMark: "eth0#2" };

/** A reconciler of a server that does what it is told and answers at once; `runs` is what it was made to run before. */
async function reconcilerOf(goal: DhcpGoal, runs: string | null) {
  const files = createMemoryFiles();
  await files.ensureDirectory("/etc/dhcp");
  const clock = createFakeClock(0);
  let running = runs;
  let asked = 0;
  const server: DhcpServer = {
    name: "dhcpd",
    config: "/etc/dhcp/dhcpd.conf",
    log: "/nowhere/dhcpd.log",
    leases: { path: "/nowhere/dhcpd.leases", follow: () => expect.unreachable() },
    header: "# ours",
    render: () => goal,
    validate: () => Promise.resolve(null),
    running: () => Promise.resolve(running),
    apply: ({ tag }) => ((running = tag), Promise.resolve(null)),
    ask: () => (asked++, Promise.resolve({ kind: "answers" })),
    stop: () => ((running = null), Promise.resolve()),
  };
  const shared = { files, clock, log: silentLog };
  const file = await openManagedConfig({
    ...shared,
    digests: createFileDigests(files),
    path: server.config,
    header: server.header,
  });
  const history = await openActivationHistory({ ...shared, path: "/etc/dhcp/history.json" });
  const reconciler = createDhcpReconciler({
    ...shared,
    server,
    file,
    history,
    enlistment: null,
    desired: () => null,
    attached: () => null,
  });
  return { pass: () => reconciler.pass(), asked: () => asked, running: () => running };
}

describe("the DHCP reconciler rests when there is nothing to do", () => {
  it.each([
    ["nothing is to run and nothing runs", nothing, null],
    ["nothing can be decided and nothing runs", keep, null],
    ["nothing can be decided and one runs", keep, "0123 eth0#2"],
  ])("while %s", async (_, goal, runs) => {
    const { pass, asked, running } = await reconcilerOf(goal, runs);
    for (let n = 0; n < 3; n++) expect(await pass()).toBe(IDLE_MS);
    expect(running()).toBe(runs);
    expect(asked()).toBe(0);
  });

  it("once what it was to do is done", async () => {
    const stopping = await reconcilerOf(nothing, "0123 eth0#2");
    expect(await stopping.pass()).toBe(0);
    expect(stopping.running()).toBeNull();
    expect(await stopping.pass()).toBe(IDLE_MS);

    const starting = await reconcilerOf(serve, null);
    expect(await starting.pass()).toBe(0);
    expect(starting.running()).toContain("eth0#2");
    const asked = starting.asked();
    expect(await starting.pass()).toBe(IDLE_MS);
    expect(await starting.pass()).toBe(IDLE_MS);
    expect(starting.asked()).toBe(asked + 1);
  });
});
