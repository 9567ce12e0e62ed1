import { afterEach, expect, it } from "vitest";
import { currentProblems } from "@berth/core";
import { systemClock } from "@berth/host";
import { waitUntil } from "../../lab/wait-until.js";
import { admit, createLinkWorld, type LinkWorld } from "./link-world.js";
import { startRack, type TestRack } from "./test-rack.js";

const HOUR_MS = 3_600_000;

let world: LinkWorld;
let rack: TestRack;

afterEach(async () => {
  await rack.stop();
  await world.stop();
});

it("a clock that is off is measured by both ends, and again when somebody sets it", async () => {
  world = await createLinkWorld("in memory");
  let offMs = -HOUR_MS;
  rack = startRack(world, await admit(world, "r1"), { clock: { ...systemClock, now: () => Date.now() + offMs } });
  rack.link.reportStatus({ accepted: 0, daemons: [], problems: [] });
  const ahead = (): number => world.registry().view(rack.identity.rack)?.clockAheadMs ?? 0;
  const found = (): readonly string[] =>
    currentProblems(world.registry().views(), []).map(({ at, code, message }) => `${code} ${at} ${message}`);
  await waitUntil(ahead, { describe: "an hour behind", until: (ms) => Math.abs(ms + HOUR_MS) < 5_000 });
  expect(found()).toEqual([expect.stringMatching(/^clock-skew clock the clock of r1 is 3\d\d\d s behind the region's$/)]);
  await waitUntil(() => rack.link.status().clockAheadMs, {
    describe: "the agent knows",
    until: (ms) => ms !== null && Math.abs(ms + HOUR_MS) < 5_000,
  });
  offMs = 0;
  rack.link.changeLeases({ upserts: [], gone: [] }); // any turn of the link: it looks at its clock
  await waitUntil(ahead, { describe: "set right", until: (ms) => Math.abs(ms) < 5_000 });
  expect(Math.abs(rack.link.status().clockAheadMs ?? HOUR_MS)).toBeLessThan(5_000);
  expect(found()).toEqual([]);
});
