import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AllocationView, EnrolledView, Page } from "@berth/core";
import type { RawDhcpClient } from "../lab/raw-dhcp-client.js";
import { waitUntil } from "../lab/wait-until.js";
import { createStage, type Stage } from "./stage.js";

const ROUNDS = 50;
const SEED = Number(process.env.BERTH_SEED ?? Date.now() % 1_000_000);

/** Small deterministic generator (mulberry32), so that a failing run can be had again with BERTH_SEED. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe(`kill -9 of agent and coordinator at random moments (seed ${SEED})`, () => {
  const random = chance(SEED);
  /** What `berth` said yes to: hardware address to address. */
  const acknowledged = new Map<string, string>();
  let stage: Stage;
  let wire: RawDhcpClient;

  beforeAll(async () => {
    stage = await createStage("kill-rounds", () => undefined);
    wire = await stage.machines[2].rawDhcp();
    await enroll(nicOf(0));
    await waitUntil(() => addressServed(nicOf(0)), {
      describe: "the first machine is served",
      until: (address) => address === acknowledged.get(nicOf(0)),
    });
  });
  afterAll(async () => {
    await wire.close();
    await stage.lab.close();
  });

  async function enroll(nic: string): Promise<boolean> {
    const { status, stdout, stderr } = await stage.region.berth("machine", "enroll", nic, "-o", "json");
    if (status === 3) return false; // nobody answered: it may have happened or not
    expect(status, stderr).toBe(0);
    const { allocation } = JSON.parse(stdout) as EnrolledView;
    const before = acknowledged.get(nic);
    if (before !== undefined) expect(allocation.address, `${nic} asked again`).toBe(before);
    acknowledged.set(nic, allocation.address);
    return true;
  }

  async function addressServed(nic: string): Promise<string | null> {
    return (await wire.dora({ mac: nic }, { attempts: 5, waitMs: 800 })).address;
  }

  async function killAndRestart(victim: "agent" | "coordinator"): Promise<void> {
    const { rack, region } = stage;
    if (victim === "agent") {
      await rack.stop("SIGKILL");
      await rack.start();
    } else {
      await region.stop("SIGKILL");
      await region.start();
    }
  }

  it(`serves and loses nothing over ${ROUNDS} rounds`, { timeout: 600_000 }, async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const nic = nicOf(round);
      const asking = enroll(nic);
      await sleep(random() * 600);
      const victims = random() < 0.4 ? ["agent"] : random() < 0.7 ? ["coordinator"] : ["agent", "coordinator"];
      const restarts = victims.map((victim) => killAndRestart(victim as "agent" | "coordinator"));
      // dhcpd goes on whoever dies: the machine that was there first still gets its own address.
      expect(await addressServed(nicOf(0)), `round ${round}, killed ${victims.join(" and ")}`).toBe(acknowledged.get(nicOf(0)));
      await Promise.all(restarts);
      if (!(await asking))
        await waitUntil(() => enroll(nic), { describe: `${nic} is enrolled after round ${round}`, deadlineMs: 20_000 });
    }
    const { items } = await stage.region.berthJson<Page<AllocationView>>("allocation", "list");
    const kept = new Map(items.flatMap(({ nics, address }) => nics.map((nic) => [nic, address] as const)));
    expect([...acknowledged].filter(([nic, address]) => kept.get(nic) !== address)).toEqual([]);
    expect(new Set(items.map(({ address }) => address)).size).toBe(items.length);
    expect(items.length).toBe(acknowledged.size);
  });

  it("ends with every machine served at its own address", { timeout: 120_000 }, async () => {
    await stage.rack.waitUntilServing({ deadlineMs: 60_000 });
    await waitUntil(() => addressServed(nicOf(ROUNDS)), {
      describe: "the last machine is served",
      deadlineMs: 30_000,
      until: (address) => address === acknowledged.get(nicOf(ROUNDS)),
    });
    for (const [nic, address] of acknowledged) expect(await addressServed(nic), nic).toBe(address);
  });
});

function nicOf(n: number): string {
  return `02:00:5e:00:70:${n.toString(16).padStart(2, "0")}`;
}
