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
  canStart: true,
  enlistment: [],
  probes: [],
  generation: 1,
  problems: [],
};
const keep: DhcpGoal = { ...nothing, kind: "keep", pending: true, generation: null };
const serve: DhcpGoal = { ...nothing, text: "# ours\n", links: ["eth0"], linkMark: "eth0#2" };

/** A reconciler of a server that does what it is told and answers at once; `runs` is what it was made to run before. */
async function reconcilerOf(goal: DhcpGoal, runs: string | null, onApply: () => void = () => undefined, answers = true) {
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
    apply: ({ tag }) => (onApply(), (running = tag), Promise.resolve(null)),
    ask: () => (asked++, Promise.resolve(answers ? { kind: "answers" } : { kind: "silent", links: ["eth0"] })),
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
  return { pass: () => reconciler.pass(), status: () => reconciler.status(), asked: () => asked, running: () => running };
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

describe("the DHCP reconciler with every link down", () => {
  const down: DhcpGoal = { ...serve, canStart: false };

  it.each([
    ["leaves what runs alone", "0123 eth0#2"],
    ["starts nothing", null],
  ])("%s, says why, and does not put the start off", async (_, runs) => {
    const goal = { ...down };
    const { pass, running, status } = await reconcilerOf(goal, runs);
    for (let n = 0; n < 3; n++) expect(await pass()).toBe(IDLE_MS);
    expect(running()).toBe(runs);
    expect(status()).toMatchObject({ state: "failing", problems: [{ code: "links-down" }] });
    Object.assign(goal, { canStart: true });
    expect(await pass()).toBe(0);
    expect(running()).toContain("eth0#2");
    await pass();
    expect(status()).toMatchObject({ state: "converged", problems: [] });
  });
});

it("a DHCP reconciler that acts says so while it does", async () => {
  let seen: string | null = null;
  const { pass, status } = await reconcilerOf(serve, null, () => (seen = status().state));
  await pass();
  expect([seen, status().state]).toEqual(["converging", "converged"]);
});

it("a DHCP server that never answered is taken for one that serves, and that nobody knows is told", async () => {
  const { pass, status } = await reconcilerOf(serve, null, undefined, false);
  for (let n = 0; n < 3; n++) await pass();
  expect(status()).toMatchObject({ state: "converged", problems: [{ code: "dhcpd-unverified" }] });
});
