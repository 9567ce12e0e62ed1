import { appendFile, mkdtemp, rename, rm, stat, truncate, unlink, writeFile } from "node:fs/promises";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLeaseReader, type LeaseReport } from "@berth/core";
import { localFollowFiles, networkFollowFiles, silentLog, systemClock, type Clock } from "@berth/host";
import { describe, expect, it } from "vitest";
import { createLeaseFollower } from "../../../packages/agent/src/observe/leases/lease-follower.js";
import type { LeaseChange, LeaseFollower } from "../../../packages/agent/src/observe/leases/model.js";
import { waitUntil } from "../../lab/wait-until.js";

const CASES = fileURLToPath(new URL("../../fixtures/watch/", import.meta.url));

type Step = {
  readonly write?: string;
  readonly append?: string;
  readonly text?: string;
  readonly rename?: readonly [string, string];
  readonly truncate?: string;
  readonly unlink?: string;
  readonly sleep_s?: number;
  readonly advance_clock_s?: number;
};

interface Case {
  readonly given: { readonly clock_start?: string; readonly steps: readonly Step[] };
  readonly expect: {
    readonly final?: readonly string[];
    readonly events?: readonly string[];
    readonly names?: Readonly<Record<string, readonly string[]>>;
    readonly names_absent?: readonly string[];
    readonly ptr?: Readonly<Record<string, string>>;
    readonly ptr_absent?: readonly string[];
    readonly cpu_seconds_max?: number;
  };
}

const names = readdirSync(CASES).filter((name) => name.endsWith(".json"));

describe("watch cases on real files", () => {
  it("are all there", () => {
    expect(names.map((name) => name.slice(0, 3))).toEqual(["089", "090", "091", "092", "093", "094", "095", "098"]);
  });

  it.each(names)("%s", async (name) => {
    await play(JSON.parse(readFileSync(join(CASES, name), "utf8")) as Case);
  });
});

async function play({ given, expect: wanted }: Case): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "berth-watch-"));
  const path = join(directory, "dhcpd.leases");
  const clock = steppedClock(given.clock_start ?? "2026-01-01T00:00:00Z");
  const follower = createLeaseFollower({
    path,
    clock,
    ports: { local: localFollowFiles, network: networkFollowFiles },
    log: silentLog,
    createReader: createLeaseReader,
  });
  const journal = new Journal(follower);
  const stop = new AbortController();
  const ended = follower.run(stop.signal);
  try {
    for (const step of given.steps) {
      const cpu = process.cpuUsage();
      await perform(step, directory, clock);
      if (step.sleep_s !== undefined && wanted.cpu_seconds_max !== undefined) {
        const { user, system } = process.cpuUsage(cpu);
        expect((user + system) / 1e6).toBeLessThan(wanted.cpu_seconds_max);
      }
      await caughtUp(follower, path);
      if (step.advance_clock_s !== undefined) await toldOf(journal, follower);
    }
    if (wanted.events !== undefined) await expectEvents(journal, wanted.events);
    await waitUntil(() => inUse(follower), { describe: "the final leases", until: (now) => matches(now, wanted) });
    if (wanted.events !== undefined) expect(journal.events).toHaveLength(wanted.events.length);
  } finally {
    stop.abort();
    await ended;
    await rm(directory, { recursive: true });
  }
}

async function perform(step: Step, directory: string, clock: SteppedClock): Promise<void> {
  const at = (name: string): string => join(directory, name);
  if (step.write !== undefined) await writeFile(at(step.write), step.text ?? "");
  if (step.append !== undefined) await appendFile(at(step.append), step.text ?? "");
  if (step.rename !== undefined) await rename(at(step.rename[0]), at(step.rename[1]));
  if (step.truncate !== undefined) await truncate(at(step.truncate));
  if (step.unlink !== undefined) await unlink(at(step.unlink));
  if (step.sleep_s !== undefined) await systemClock.sleep(step.sleep_s * 1000);
  if (step.advance_clock_s !== undefined) clock.step(step.advance_clock_s * 1000);
}

/** Waits until the follower has seen what is on the disk now: the length of the file, or that there is none. */
async function caughtUp(follower: LeaseFollower, path: string): Promise<void> {
  await waitUntil(
    async () => {
      const stats = await stat(path, { bigint: true }).catch(() => null);
      const { state, offset, lagBytes } = follower.health();
      return { state: state.kind, offset, lagBytes, size: stats === null ? null : Number(stats.size) };
    },
    {
      describe: "the follower has caught up",
      deadlineMs: 2_000,
      until: ({ state, offset, size }) =>
        size === null
          ? state === "missing" || state === "lost"
          : (state === "following" || state === "settling") && offset === size,
    },
  );
}

/** Waits until the listener has been told of what the clock alone has changed: within a second by the case bank, three under load. */
async function toldOf(journal: Journal, follower: LeaseFollower): Promise<void> {
  await waitUntil(() => [...journal.used], {
    describe: "the listener knows what has lapsed",
    deadlineMs: 3_000,
    until: (used) =>
      isSame(
        used,
        inUse(follower).map(({ address }) => address),
      ),
  });
}

/** `+` begins, `-` leaves the file while in use, `expired` ends by the clock or by a later block. */
class Journal {
  readonly events: string[] = [];
  readonly used = new Set<string>();

  constructor(follower: LeaseFollower) {
    follower.onChange((change) => this.#note(change));
  }

  #note(change: LeaseChange): void {
    for (const address of change.gone) if (this.used.delete(address)) this.events.push(`-${address}`);
    for (const report of change.upserts) {
      if (report.inUse === this.used.has(report.address)) continue;
      if (report.inUse) this.used.add(report.address);
      else this.used.delete(report.address);
      this.events.push(
        report.inUse ? `+${report.address} ${report.hardwareAddress} ${report.dnsLabel}` : `expired ${report.address}`,
      );
    }
  }
}

async function expectEvents(journal: Journal, wanted: readonly string[]): Promise<void> {
  await waitUntil(() => journal.events, {
    describe: `events ${wanted.join(", ")}`,
    until: (seen) => seen.length >= wanted.length,
  });
  journal.events.forEach((event, index) => expect(event).toContain(wanted[index] ?? "no event"));
}

function inUse(follower: LeaseFollower): readonly LeaseReport[] {
  return follower.snapshot().filter((report) => report.inUse);
}

function matches(reports: readonly LeaseReport[], wanted: Case["expect"]): boolean {
  const addresses: string[] = reports.map(({ address }) => address);
  const labels = new Map(reports.map(({ address, dnsLabel }) => [address as string, dnsLabel]));
  const of = (label: string): string[] => addresses.filter((address) => labels.get(address) === label);
  return (
    (wanted.final === undefined || isSame(addresses, wanted.final)) &&
    Object.entries(wanted.names ?? {}).every(([label, all]) => isSame(of(label), all)) &&
    (wanted.names_absent ?? []).every((label) => of(label).length === 0) &&
    Object.entries(wanted.ptr ?? {}).every(([address, label]) => labels.get(address) === label) &&
    (wanted.ptr_absent ?? []).every((address) => !labels.has(address))
  );
}

function isSame(seen: readonly string[], wanted: readonly string[]): boolean {
  return seen.toSorted().join() === wanted.toSorted().join();
}

interface SteppedClock extends Clock {
  step(ms: number): void;
}

/** Runs at real speed from the given time, and can be set on. */
function steppedClock(start: string): SteppedClock {
  let offset = Date.parse(start) - systemClock.now();
  return { ...systemClock, now: () => systemClock.now() + offset, step: (ms) => void (offset += ms) };
}
