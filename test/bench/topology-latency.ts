import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Rack } from "../lab/berth-rack.js";
import { Region } from "../lab/berth-region.js";
import type { Host } from "../lab/host.js";
import { createLab, type Lab } from "../lab/lab.js";
import { runOrThrow } from "../lab/run-program.js";
import { waitUntil } from "../lab/wait-until.js";
import { median } from "./measurement.js";

const CHANGES = 60;
/** Longer than the observer's least distance between two scans: changes in the field are rare. */
const APART_MS = 250;

export interface ChangeLatency {
  /** Median milliseconds from the call of ip(8) on. */
  readonly topologyMs: number;
  readonly monitorMs: number;
  /** Median of the differences. */
  readonly moreMs: number;
}

/** An address comes on a rack: when does a C reader of `ip monitor` see it, and when is it in a real coordinator's topology, over a real agent? */
export async function measureChangeLatency(): Promise<ChangeLatency> {
  const lab = await createLab({ name: "bench-topology" });
  try {
    const region = new Region(await lab.addRegion("region1"), "10.240.1.10");
    const host = await lab.addRack("rack1");
    await host.connect(await lab.addLink("rack1"), { addresses: ["192.168.50.1/24"] });
    await region.start();
    const rack = new Rack(host);
    await rack.join(region);
    await rack.start();
    return await measure(lab, host, new RackPoll(region));
  } finally {
    await lab.close();
  }
}

async function measure(lab: Lab, host: Host, poll: RackPoll): Promise<ChangeLatency> {
  const anchor = join(lab.directory, "monitor-anchor");
  await runOrThrow(["gcc", "-O2", "-o", anchor, fileURLToPath(new URL("monitor-anchor.c", import.meta.url))]);
  const monitor = await host.spawn(["sh", "-c", `stdbuf -oL ip monitor address | exec ${anchor}`]);
  await waitUntil(() => poll.has("192.168.50.1"), { describe: "the rack has reported", deadlineMs: 30_000 });
  const seen: { topology: number; monitor: number }[] = [];
  for (let i = -3; i < CHANGES; i++) {
    const address = `192.168.50.${103 + i}`;
    const startedAt = process.hrtime.bigint();
    await host.ip("address", "add", `${address}/32`, "dev", "eth0");
    const inTopologyAt = await poll.whenHas(address);
    const line = await monitor.waitForLine(`inet ${address}/32`);
    await new Promise((resolve) => setTimeout(resolve, APART_MS));
    if (i < 0) continue; // the first ones warm both processes up
    seen.push({
      topology: Number(inTopologyAt - startedAt) / 1e6,
      monitor: Number(BigInt(line.split(" ", 1)[0] ?? "0") - startedAt) / 1e6,
    });
  }
  return {
    topologyMs: median(seen.map(({ topology }) => topology)),
    monitorMs: median(seen.map(({ monitor: at }) => at)),
    moreMs: median(seen.map(({ topology, monitor: at }) => topology - at)),
  };
}

/** Asks the coordinator's API for the rack, over one kept connection. */
class RackPoll {
  readonly #options: { socketPath: string; path: string; agent: Agent; headers: Record<string, string> };

  constructor({ dataDir }: Region) {
    const token = readFileSync(join(dataDir, "admin.token"), "utf8").trim();
    this.#options = {
      socketPath: join(dataDir, "api.sock"),
      path: "/api/v1/racks/rack1",
      agent: new Agent({ keepAlive: true, maxSockets: 1 }),
      headers: { authorization: `Bearer ${token}` },
    };
  }

  async has(address: string): Promise<boolean> {
    return (await this.#ask()).includes(`"${address}"`);
  }

  /** The monotonic time of the first answer that has it. */
  async whenHas(address: string): Promise<bigint> {
    const deadline = process.hrtime.bigint() + 20_000_000_000n;
    while (!(await this.has(address))) {
      if (process.hrtime.bigint() > deadline) throw new Error(`${address} never came into the topology`);
    }
    return process.hrtime.bigint();
  }

  #ask(): Promise<string> {
    return new Promise((resolve, reject) => {
      const asked = request(this.#options, (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        answer.on("end", () => resolve(text));
      });
      asked.on("error", reject).end();
    });
  }
}
