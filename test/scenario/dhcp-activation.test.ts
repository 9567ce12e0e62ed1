import { appendFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DhcpRack, type Known } from "../lab/dhcp-rack.js";
import { createLab, type Lab } from "../lab/lab.js";
import { requireTools } from "../lab/require-tools.js";

const A: Known = { mac: "02:00:5e:00:53:0a", address: "192.168.50.10" };
const B: Known = { mac: "02:00:5e:00:53:0b", address: "192.168.50.11" };
/** The scripts below do their harm where this machine is in the file. */
const BAD: Known = { mac: "02:00:5e:00:53:bb", address: "192.168.50.66" };
const IF_BAD = 'for file in "$@"; do [ -f "$file" ] && grep -q 53:bb "$file" && is_bad=1; done; [ -n "$is_bad" ]';
const DIES_AT_START = `[ -z "$is_check" ] && ${IF_BAD} && { echo "this dhcpd dies of it"; exit 1; }`;
const STEPS_MAX = 80;

/** An activation that goes wrong anywhere leaves the rack with what served last and a named problem, and comes right by itself. */
describe("an activation of dhcpd", () => {
  let lab: Lab;
  let rack: DhcpRack;
  beforeEach(async () => {
    requireTools(["ip", "dhcpd", "gcc"]);
    lab = await createLab({ name: "dhcp-activation" });
    rack = await DhcpRack.create(lab);
  });
  afterEach(() => lab.close());

  it("serves, and remembers that it did", async () => {
    rack.desire(A);
    const { told } = await rack.reconcile();
    expect(told?.status).toMatchObject({ state: "converged", generation: 1, problems: [] });
    expect(told?.activations).toMatchObject([
      { step: "activate", generation: 1, before: null, outcome: "serves", problem: null },
    ]);
    await rack.serves(A, B);
  });

  it("is killed at every step, and converges at the next start", { timeout: 400_000 }, async () => {
    rack.desire(A);
    await rack.reconcile();
    let step = 1;
    for (let isKilled = true; isKilled && step < STEPS_MAX; step++) {
      const [wanted, unwanted] = step % 2 === 0 ? [A, B] : [B, A];
      rack.desire(wanted);
      isKilled = (await rack.reconcile({ killAt: step })).signal === "SIGKILL";
      // Whatever runs now serves one of the two contents whole.
      if ((await rack.dhcpdPid()) !== 0) expect([step, await rack.served(A, B)]).toEqual([step, [expect.any(String)]]);
      const { told } = await rack.reconcile();
      expect([step, told?.status.state, told?.status.problems]).toEqual([step, "converged", []]);
      await rack.serves(wanted, unwanted, `after a kill at step ${step}`);
    }
    expect(step).toBeGreaterThan(15);
    expect(step).toBeLessThan(STEPS_MAX);
    const others = readdirSync(rack.file("")).filter(
      (name) => !/^dhcpd\.(conf|conf\.good|conf\.managed\.json|leases~?)$/.test(name),
    );
    expect(others).toEqual([]);
  });

  it("is killed at every step of a change of hosts alone, which dhcpd checks by itself", { timeout: 200_000 }, async () => {
    rack.desire(A);
    await rack.reconcile();
    for (let step = 1; step <= 5; step++) {
      const [wanted, unwanted] = step % 2 === 0 ? [A, B] : [B, A];
      rack.desire(wanted);
      expect((await rack.reconcile({ first: [A, B], killAt: step })).signal).toBe("SIGKILL");
      const { told } = await rack.reconcile();
      expect([step, told?.status.state, told?.status.problems]).toEqual([step, "converged", []]);
      await rack.serves(wanted, unwanted, `after a kill at step ${step}`);
      expect([step, readdirSync(rack.file("")).filter((name) => name.includes("candidate"))]).toEqual([step, []]);
    }
    rack.desire(A);
    expect((await rack.reconcile({ first: [A, B] })).told?.status).toMatchObject({ state: "converged", problems: [] });
    expect(readdirSync(rack.file("")).filter((name) => name.includes("candidate"))).toEqual([]);
  });

  it("is killed at every step on the way to a content that does not start, and what served last comes back", {
    timeout: 500_000,
  }, async () => {
    rack.useProgram(DIES_AT_START);
    rack.desire(A);
    await rack.reconcile();
    let step = 1;
    for (let isKilled = true; isKilled && step < STEPS_MAX; step++) {
      rack.desire(A, BAD);
      isKilled = (await rack.reconcile({ killAt: step })).signal === "SIGKILL";
      const { told } = await rack.reconcile();
      expect([step, told?.status.state, told?.status.problems[0]]).toMatchObject([
        step,
        "failing",
        { code: "dhcpd-did-not-start", message: expect.stringContaining("this dhcpd dies of it") as string },
      ]);
      await rack.serves(A, BAD, `after a kill at step ${step}`);
    }
    expect(step).toBeGreaterThan(20);
    expect(step).toBeLessThan(STEPS_MAX);
    rack.desire(A, B);
    const { told } = await rack.reconcile();
    expect(told?.status.state).toBe("converged");
    expect(told?.activations.map(({ outcome }) => outcome)).toEqual(
      expect.arrayContaining(["interrupted", "rolled-back", "serves"]),
    );
    expect(await rack.served(A, B)).toEqual([A.address, B.address]);
  });

  it("is given up when the checker hangs, whose process does not stay behind", async () => {
    rack.useProgram(`[ -n "$is_check" ] && ${IF_BAD} && exec sleep 987`);
    rack.desire(A);
    await rack.reconcile();
    const before = await rack.dhcpdPid();
    rack.desire(A, BAD);
    const { told } = await rack.reconcile();
    expect(told?.status.problems).toMatchObject([{ code: "dhcpd-check-hangs" }]);
    expect(told?.activations.at(-1)).toMatchObject({ outcome: "refused", problem: { code: "dhcpd-check-hangs" } });
    expect(await rack.dhcpdPid()).toBe(before);
    await rack.serves(A, BAD);
    const { stdout } = await rack.host.run(["sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]);
    expect(stdout).not.toContain("sleep 987");
  });

  it("is taken back when dhcpd says that it serves and does not", async () => {
    rack.useProgram(`[ -z "$is_check" ] && ${IF_BAD} && { echo "Server starting service." >&2; exec sleep 988; }`);
    rack.desire(A);
    await rack.reconcile();
    rack.desire(A, BAD);
    const { told } = await rack.reconcile();
    expect(told?.status.problems).toMatchObject([
      { code: "dhcpd-not-answering", message: expect.stringContaining("eth0") as string },
    ]);
    expect(told?.activations.at(-1)).toMatchObject({ outcome: "rolled-back" });
    await rack.serves(A, BAD);
  });

  it("fails on a disk that is full at any of its writes, serves on, and is made up for when there is room", {
    timeout: 300_000,
  }, async () => {
    rack.desire(A);
    await rack.start({ diskSize: "512k" });
    await rack.told("it serves", ({ status }) => status.state === "converged");
    const ballast = `${rack.seenState}/ballast`;
    const PAGE = 4096;
    for (const [n, pages] of [0, 1, 2, 3, 4, 5, 6, 8, 12].entries()) {
      const free = fill(ballast);
      truncateSync(ballast, Math.max(0, free - pages * PAGE));
      const [wanted, unwanted] = n % 2 === 0 ? [B, A] : [A, B];
      rack.desire(wanted);
      const { status } = await rack.told(`it fails with ${pages} pages left`, (told) => told.status.state === "failing");
      expect(status.problems[0]?.code).toMatch(/^(file-unwritable|leases-disk-full)$/);
      await rack.serves(unwanted, wanted, `with ${pages} pages left`);
      rmSync(ballast);
      await rack.told("it converges", (told) => told.status.state === "converged" && told.status.desired === told.status.running);
      await rack.serves(wanted, unwanted, `after ${pages} pages were left`);
    }
  });

  it("is one restart for many changes within a second, and never waits for their end", async () => {
    rack.desire(A);
    await rack.start();
    await rack.told("it serves", ({ status }) => status.state === "converged");
    const begin = performance.now();
    let changes = 0;
    for (; performance.now() - begin < 4_000; changes++) {
      rack.desire(A, { mac: B.mac, address: `192.168.50.${20 + (changes % 200)}` });
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    rack.desire(A, B);
    const { activations } = await rack.told("the last of them serves", ({ status }) => status.state === "converged");
    const restarts = activations.filter(({ step }) => step === "activate").length - 1;
    const seconds = Math.ceil((performance.now() - begin) / 1_000);
    expect(changes).toBeGreaterThan(20);
    expect(restarts).toBeGreaterThan(1);
    expect(restarts).toBeLessThanOrEqual(seconds + 1);
    expect(await rack.served(A, B)).toEqual([A.address, B.address]);
  });
});

/** Writes until the disk is full; the octets that were written. */
function fill(path: string): number {
  writeFileSync(path, "");
  let written = 0;
  try {
    for (; written < 64 * 1024 * 1024; written += 4096) appendFileSync(path, Buffer.alloc(4096));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
  return written;
}
