import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { berthProgram } from "../lab/berth-region.js";
import { createLab, type Lab } from "../lab/lab.js";
import type { Host } from "../lab/host.js";
import { waitUntil } from "../lab/wait-until.js";

const ROOT = resolve(import.meta.dirname, "../..");

interface Block {
  /** Where it is run: the word after `run:` in the comment above it. */
  readonly place: string;
  readonly script: string;
  readonly line: number;
}

/** Every shell block of the README, in order. */
function readBlocks(): Block[] {
  const text = readFileSync(join(ROOT, "README.md"), "utf8");
  return [...text.matchAll(/(?:<!-- run: ([a-z]+) -->\n)?```sh\n([\s\S]*?)```/g)].map(([whole, place = "", script = ""]) => ({
    place,
    script,
    line: text.slice(0, text.indexOf(whole)).split("\n").length,
  }));
}

/**
 * Every command of the README is run as it stands there, on a region's host and a rack's host of the lab; only folders and the region's address are
 * the lab's. What runs in the background there (`&`) runs in the background here.
 */
describe("README", () => {
  const blocks = readBlocks();
  let lab: Lab;
  let region: Host;
  let rack: Host;
  let joinLine = "";

  beforeAll(async () => {
    lab = await createLab({ name: "readme" });
    region = await lab.addRegion("region");
    rack = await lab.addRack("rack1");
    await rack.connect(await lab.addLink("rack1"), { addresses: ["192.168.50.1/24"] });
    for (const host of [region, rack]) for (const folder of ["lib", "etc"]) mkdirSync(host.path(folder), { recursive: true });
  });
  afterAll(() => lab.close());

  const localise = (host: Host, script: string): string =>
    script
      .replaceAll("/var/lib/berth-", `${host.path("lib")}/berth-`)
      .replaceAll("/etc/berth/", `${host.path("etc")}/`)
      .replaceAll("10.0.0.10", "10.240.1.10");

  const environment = (host: Host): Record<string, string> => ({
    PATH: `${dirname(berthProgram("berth"))}:${process.env.PATH ?? ""}`,
    BERTH_URL: `unix:${host.path("lib")}/berth-coordinator/api.sock`,
    BERTH_TOKEN_FILE: `${host.path("lib")}/berth-coordinator/admin.token`,
  });

  /** Line by line, each of which must succeed; what a line starts in the background is given to the lab. */
  async function runScript(host: Host, script: string): Promise<string> {
    let printed = "";
    for (const line of localise(host, script).trim().split("\n")) {
      const background = line.endsWith(" &");
      if (background) {
        await host.spawn(["bash", "-c", `exec ${line.slice(0, -2)}`], {
          env: environment(host),
          logFile: host.path("readme.log"),
        });
        await waitUntil(() => isUp(host), { describe: `up: ${line}`, deadlineMs: 30_000 });
        continue;
      }
      const result = await host.run(["bash", "-c", line], { env: environment(host) });
      expect([result.status, result.stderr], line).toEqual([0, expect.any(String)]);
      printed += result.stdout;
    }
    return printed;
  }

  async function isUp(host: Host): Promise<boolean> {
    const probe = host === region ? "berth status" : localise(host, "berth-agent status --state /var/lib/berth-agent");
    return (await host.run(["bash", "-c", probe], { env: environment(host) })).status === 0;
  }

  it("has a place to run for every command", () => {
    expect(blocks.length).toBeGreaterThan(6);
    expect(blocks.filter(({ place }) => !["gate", "region", "rack", "join"].includes(place))).toEqual([]);
  });

  it("names only scripts that are there; the gate itself runs them", async () => {
    const scripts = blocks.filter(({ place }) => place === "gate").flatMap(({ script }) => script.trim().split("\n"));
    const known = ["sudo ./scripts/quickstart", "sudo ./scripts/test", "npm ci", "npm run build"];
    expect(scripts).toEqual(known);
    for (const script of ["quickstart", "test"]) {
      const { status, stdout } = await region.run([join(ROOT, "scripts", script), "--help"]);
      expect([status, stdout]).toEqual([0, expect.stringContaining(`usage: sudo ./scripts/${script}`)]);
    }
  });

  for (const block of blocks.filter(({ place }) => place === "region" || place === "rack" || place === "join")) {
    it(`line ${block.line}: ${block.script.split("\n")[0] ?? ""}`, async () => {
      if (block.place === "join") {
        // The README cannot know the token: it is the one that the region just printed.
        expect(joinLine).toMatch(/^berth-agent join 10\.240\.1\.10:7481 \S+ sha256:[0-9a-f]{64}$/m);
        const [shown = ""] = block.script.trim().split("\n");
        const state = shown.slice(shown.indexOf(" --state"));
        await runScript(rack, `${joinLine.trim()}${state}`);
        return;
      }
      const printed = await runScript(block.place === "region" ? region : rack, block.script);
      joinLine = /^berth-agent join .*$/m.exec(printed)?.[0] ?? joinLine;
    });
  }

  it("left a rack that serves what was declared", async () => {
    const status = localise(rack, "berth-agent status --state /var/lib/berth-agent");
    const state = await waitUntil(() => rack.run(["bash", "-c", status], { env: environment(rack) }), {
      describe: "the rack converges",
      deadlineMs: 30_000,
      until: ({ stdout }) => /^dhcpd\s+converged/m.test(stdout) && /^named\s+converged/m.test(stdout),
    });
    expect(state.status).toBe(0);
    const { values } = await rack.query("web1.rack1.example", "A", "192.168.50.1");
    expect(values).toEqual([]); // it was released again
  });
});
