import { existsSync, statSync } from "node:fs";
import { createKeaReader, keaFilesBefore, type LeaseReport } from "@berth/core";
import { localFollowFiles, networkFollowFiles, silentLog, systemClock } from "@berth/host";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLeaseFollower } from "../../../packages/agent/src/observe/leases/lease-follower.js";
import type { LeaseFollower } from "../../../packages/agent/src/observe/leases/model.js";
import { createLab, type Lab } from "../lab.js";
import { waitUntil } from "../wait-until.js";
import { Crowd } from "./crowd.js";
import { KeaServer, type KeaLease } from "./kea-server.js";

let lab: Lab;
let kea: KeaServer;
let crowd: Crowd;
let closeCrowd: () => Promise<void>;

beforeAll(async () => {
  lab = await createLab({ name: "kea leases" });
  const link = await lab.addLink("rack");
  const rack = await lab.addHost("rack1");
  await rack.connect(link, { addresses: ["10.67.0.1/16"] });
  const client = await (await lab.addMachine("crowd", link)).rawDhcp();
  closeCrowd = () => client.close();
  crowd = new Crowd(client, 400, 20_261_130);
  kea = new KeaServer(rack, { subnet: "10.67.0.0/16", pool: "10.67.1.1 - 10.67.4.250", cleanupSeconds: 2 });
  await kea.start();
});

afterAll(async () => {
  await closeCrowd();
  await kea.stop();
  await lab.close();
});

it("agrees with kea-dhcp4 through its clean-ups and a restart", async () => {
  const { follower, listened, close } = follow();
  try {
    await crowd.grant(200, now);
    await expectAgreement(follower, listened);
    const inodes = new Set([statSync(kea.leasesFile).ino]);
    for (let round = 0; round < 4; round++) {
      await crowd.grant(40, now);
      await crowd.renew(40, now);
      crowd.release(20, now);
      crowd.decline(2, now);
      await waitUntil(() => statSync(kea.leasesFile).ino, {
        describe: "kea has begun a new lease file",
        until: (ino) => !inodes.has(ino),
      });
      inodes.add(statSync(kea.leasesFile).ino);
      await expectAgreement(follower, listened);
    }
    await kea.stop();
    await kea.start();
    await crowd.grant(20, now);
    await expectAgreement(follower, listened);
    expect(follower.health()).toMatchObject({ skippedDeclarations: 0, problems: [] });
    expect(existsSync(`${kea.leasesFile}.2`)).toBe(true); // the clean-up did run
  } finally {
    await close();
  }
}, 60_000);

it("loads what another follower learnt step by step", async () => {
  const { follower, listened, close } = follow();
  await expectAgreement(follower, listened);
  await close();
});

interface Followed {
  readonly follower: LeaseFollower;
  /** The table of a listener. */
  readonly listened: ReadonlyMap<string, LeaseReport>;
  readonly close: () => Promise<void>;
}

function follow(): Followed {
  const follower = createLeaseFollower({
    path: kea.leasesFile,
    filesBefore: keaFilesBefore(kea.leasesFile),
    clock: systemClock,
    ports: { local: localFollowFiles, network: networkFollowFiles },
    log: silentLog,
    createReader: createKeaReader,
  });
  const listened = new Map<string, LeaseReport>();
  follower.onChange(({ upserts, gone, reset }) => {
    if (reset === true) listened.clear();
    for (const address of gone) listened.delete(address);
    for (const report of upserts) listened.set(report.address, report);
  });
  const stop = new AbortController();
  const ended = follower.run(stop.signal);
  const close = async (): Promise<void> => {
    stop.abort();
    await ended;
  };
  return { follower, listened, close };
}

async function expectAgreement(follower: LeaseFollower, listened: ReadonlyMap<string, LeaseReport>): Promise<void> {
  await waitUntil(
    async () => {
      const theirs = new Map((await kea.leases()).map((lease) => [lease["ip-address"], briefOf(lease)]));
      const asked = differences(theirs, briefReports(follower.snapshot()));
      return { count: theirs.size, asked, told: differences(theirs, briefReports([...listened.values()])) };
    },
    { describe: "kea and we agree", until: ({ count, asked, told }) => count > 0 && asked.length === 0 && told.length === 0 },
  );
}

/** The first few addresses of which the two tables say something else. */
function differences(theirs: ReadonlyMap<string, string>, ours: ReadonlyMap<string, string>): readonly string[] {
  const all = [...new Set([...theirs.keys(), ...ours.keys()])];
  const different = all.filter((address) => theirs.get(address) !== ours.get(address));
  return different.slice(0, 5).map((address) => `${address}: kea ${theirs.get(address)}, we ${ours.get(address)}`);
}

const STATES = ["active", "abandoned", "expired", "released"];

function briefOf(lease: KeaLease): string {
  const hardware = lease["hw-address"] === "" ? null : lease["hw-address"];
  return `${STATES[lease.state]} ${hardware} ${lease.cltt + lease["valid-lft"]}`;
}

function briefReports(reports: readonly LeaseReport[]): Map<string, string> {
  return new Map(reports.map((r) => [r.address, `${r.state} ${r.hardwareAddress} ${r.ends}`]));
}

function now(): number {
  return Date.now() / 1000;
}
