import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Host } from "../host.js";
import { startChronyd } from "../lab-daemons.js";
import { createLab, type Lab } from "../lab.js";
import { requireTools } from "../require-tools.js";
import { waitUntil } from "../wait-until.js";

const file = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

describe("a rack's own chronyd", () => {
  let lab: Lab;
  let rack: Host;
  beforeAll(async () => {
    requireTools(["ip", "chronyd"]);
    lab = await createLab({ name: "vip-ask-time" });
    rack = await lab.addHost("rack1");
    await rack.connect(await lab.addLink("one"), { addresses: ["192.168.50.11/24"] });
  });
  afterAll(() => lab.close());

  async function ask(): Promise<unknown> {
    const argv = [
      process.execPath,
      file("../../../node_modules/tsx/dist/cli.mjs"),
      file("ask-time-program.ts"),
      "192.168.50.11",
    ] as const;
    return JSON.parse(await rack.runOrThrow([...argv]));
  }

  it("answers the agent's question when it runs, and not before", async () => {
    expect(await ask()).toEqual({ ok: false, why: "no-answer" });
    await startChronyd(rack);
    await waitUntil(ask, {
      describe: "chronyd answers",
      deadlineMs: 30_000,
      until: (answer) => JSON.stringify(answer) === '{"ok":true}',
    });
  });
});
