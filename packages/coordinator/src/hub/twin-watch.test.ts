import { beforeEach, expect, it } from "vitest";
import { TwinWatch, type Greeting } from "./twin-watch.js";

let now: number;
let watch: TwinWatch;
let open: Greeting | null;

beforeEach(() => {
  now = 1_000_000;
  watch = new TwinWatch(() => now);
  open = null;
});

function agent(hostname: string, stream: string): Greeting {
  return { hostname, stream };
}

/** The agent says hello after so many seconds; whether it has the session then. */
function hello(newcomer: Greeting, { after = 1, rackName = "r1" } = {}): boolean {
  now += after * 1000;
  const why = watch.judge({ rack: "id", rackName, standing: open, newcomer });
  if (why === null) open = newcomer;
  return why === null;
}

const a = agent("host-a", "s1");
const b = agent("host-b", "s2");

it("two hosts that take the session from each other: the first keeps it from the third swap on, and both are named", () => {
  expect([a, b, a, b, b, b, a, b].map((who) => hello(who))).toEqual([true, true, true, false, false, false, true, false]);
  expect(watch.problems()).toMatchObject([
    { code: "identity-twice", at: "r1", message: "two hosts link as rack r1: host-a has the link, host-b is refused" },
  ]);
});

it("three hosts: one keeps it", () => {
  const c = agent("host-c", "s3");
  expect([a, b, c, a, b, c, a].map((who) => hello(who))).toEqual([true, true, true, true, false, false, true]);
});

it("hosts of one name are told apart by their runs", () => {
  const [x, y] = [agent("rack", "s1"), agent("rack", "s2")];
  // The first replacement looks like a restart; that a replaced run comes back does not.
  expect([x, y, x, y, x, y, x].map((who) => hello(who))).toEqual([true, true, true, true, true, false, true]);
  expect(watch.problems()[0]?.message).toBe("two hosts link as rack r1: one rack has the link, another rack is refused");
});

it("the host that the rack is named after keeps it, although the copy came first after a restart of the coordinator", () => {
  const own = { rackName: "host-a" };
  const at = agent("host-a.example", "s1");
  expect([b, at, b, at, b, at].map((who) => hello(who, own))).toEqual([true, true, true, true, false, true]);
  expect(watch.problems()[0]?.message).toContain("host-a.example has the link, host-b is refused");
});

it("a host that had the session for a minute is the first", () => {
  expect(hello(b)).toBe(true);
  expect(hello(a)).toBe(true);
  expect([b, a, b, a].map((who, n) => hello(who, { after: n === 0 ? 70 : 1 }))).toEqual([true, true, false, true]);
});

it("a crash loop of one agent whose old sessions are not known to be dead wins every time", () => {
  for (let run = 0; run < 40; run++) expect(hello(agent("host-a", `run ${run}`))).toBe(true);
  expect(watch.problems()).toEqual([]);
});

it("an agent that dials again, is renamed, or is restarted during the dispute wins", () => {
  for (let n = 0; n < 10; n++) expect(hello(a)).toBe(true);
  expect(hello(agent("renamed", "s9"))).toBe(true);
  expect(hello(agent("renamed", "s10"), { after: 100 })).toBe(true);
  for (const who of [b, agent("renamed", "s10"), b]) hello(who);
  expect(watch.problems()).toHaveLength(1);
  expect(hello(agent("renamed", "s11"))).toBe(true);
});

it("swaps that are far apart are restarts on other hosts", () => {
  for (let n = 0; n < 6; n++) expect(hello(n % 2 === 0 ? a : b, { after: 40 })).toBe(true);
  expect(watch.problems()).toEqual([]);
});

it("the refused host has the session once the other is gone, and loses it when that one comes back", () => {
  for (const who of [a, b, a, b]) hello(who);
  open = null;
  expect(hello(b)).toBe(true);
  expect(hello(agent("host-a", "after the restart"))).toBe(true);
  expect(hello(b)).toBe(false);
});

it("the problem goes after five quiet minutes, not before, and with the rack", () => {
  for (const who of [a, b, a, b]) hello(who);
  now += 299_000;
  expect(watch.problems()).toHaveLength(1);
  now += 1_000;
  expect(watch.problems()).toEqual([]);
  expect(hello(b)).toBe(true);
  for (const who of [a, b, a]) hello(who);
  expect(watch.problems()).toHaveLength(1);
  watch.forget("id");
  expect(watch.problems()).toEqual([]);
});
