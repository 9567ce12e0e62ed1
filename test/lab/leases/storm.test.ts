import { appendFileSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { createLeaseReader, type LeaseReport } from "@berth/core";
import { localFollowFiles, networkFollowFiles, silentLog, systemClock } from "@berth/host";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLeaseFollower } from "../../../packages/agent/src/observe/leases/lease-follower.js";
import type { LeaseFollower } from "../../../packages/agent/src/observe/leases/model.js";
import { createLab, type Lab } from "../lab.js";
import { waitUntil } from "../wait-until.js";
import { Crowd } from "./crowd.js";
import { readNaively, type NaiveLease } from "./naive-leases.js";
import { TimedDhcpd } from "./timed-dhcpd.js";

const SEED = Number(process.env.STORM_SEED ?? 20_261_130);
const CLIENTS = 2_000;
const ADDRESS = "10.66.0.1/16";
const CONF = `authoritative;
ping-check false;
delayed-ack 28;
max-ack-delay 100000;
dhcp-cache-threshold 0;
default-lease-time 600;
max-lease-time 36000;
min-lease-time 60;
subnet 10.66.0.0 netmask 255.255.0.0 { pool { range 10.66.1.1 10.66.12.250; } }
`;

/** What happens to the file at the end of a round. `hour`: dhcpd rewrites at its next commit; `restart`: at its start. */
const ROUNDS = ["none", "hour", "short-leases-end", "restart", "hour", "short-leases-end", "none"] as const;

let lab: Lab;
let dhcpd: TimedDhcpd;
let crowd: Crowd;
let follower: LeaseFollower;
let listened: Map<string, LeaseReport>;
const stop = new AbortController();
let ended: Promise<void>;
let closeCrowd: () => Promise<void>;

beforeAll(async () => {
  lab = await createLab({ name: "lease storm" });
  const [rackLink, quietLink] = [await lab.addLink("rack"), await lab.addLink("quiet")];
  const [rack, oracle] = [await lab.addHost("rack1"), await lab.addHost("oracle")];
  await rack.connect(rackLink, { addresses: [ADDRESS] });
  await oracle.connect(quietLink, { addresses: [ADDRESS] });
  const client = await (await lab.addMachine("crowd", rackLink)).rawDhcp();
  closeCrowd = () => client.close();
  crowd = new Crowd(client, CLIENTS, SEED);
  dhcpd = new TimedDhcpd(rack, oracle, CONF);
  listened = new Map();
  follower = createLeaseFollower({
    path: dhcpd.leasesFile,
    clock: { ...systemClock, now: () => nowMs() },
    ports: { local: localFollowFiles, network: networkFollowFiles },
    log: silentLog,
    createReader: createLeaseReader,
  });
  follower.onChange(({ upserts, gone, reset }) => {
    if (reset === true) listened.clear();
    for (const address of gone) listened.delete(address);
    for (const report of upserts) listened.set(report.address, report);
  });
  ended = follower.run(stop.signal);
  await dhcpd.start();
});

afterAll(async () => {
  stop.abort();
  await ended;
  await closeCrowd();
  await dhcpd.stop();
  await lab.close();
});

it(`agrees with dhcpd in every round of a storm of ${CLIENTS} clients (STORM_SEED=${SEED})`, async () => {
  const inodes = new Set([inodeOf()]);
  const done = { granted: 0, renewed: 0 };
  for (const [round, end] of ROUNDS.entries()) {
    done.granted += await crowd.grant(round === 0 ? 900 : 400, now);
    done.renewed += await crowd.renew(200, now);
    crowd.release(80, now);
    crowd.decline(10, now);
    done.granted += await crowd.grant(150, now);
    await expectAgreement(`round ${round}`);
    if (end === "restart") {
      await dhcpd.stop();
      await dhcpd.start();
    }
    if (end === "hour") dhcpd.jump(3_700);
    if (end === "short-leases-end") dhcpd.jump(700);
    if (end !== "none") {
      done.granted += await crowd.grant(1, now); // dhcpd looks at its clock when a packet comes
      await expectAgreement(`round ${round}, after ${end}`);
      inodes.add(inodeOf());
    }
  }
  // At least three rewrites were seen on the disk, and the follower took each of them.
  expect(inodes.size).toBeGreaterThanOrEqual(4);
  expect(follower.health()).toMatchObject({ state: { kind: "following" }, lagBytes: 0, skippedDeclarations: 0, problems: [] });
  expect(follower.health().generation).toBeGreaterThanOrEqual(4);
  expect(done.granted).toBeGreaterThan(CLIENTS);
  expect(done.renewed).toBeGreaterThan(500);
}, 120_000);

it("does not wake for other files in the leases directory", async () => {
  await waitUntil(() => follower.health().lagBytes, { describe: "the storm is over", until: (lag) => lag === 0 });
  const before = follower.health().wakes;
  const own = join(dirname(dhcpd.leasesFile), "berth-agent.log");
  for (let line = 0; line < 1_000; line++) appendFileSync(own, `line ${line}\n`);
  appendFileSync(dhcpd.leasesFile, "# the end\n"); // events come in order: when this one is seen, the others would have been
  await waitUntil(() => follower.health(), {
    describe: "the last append is seen",
    until: ({ offset, wakes }) => offset === statSync(dhcpd.leasesFile).size && wakes > before,
  });
  expect(follower.health().wakes - before).toBeLessThanOrEqual(2);
});

/** Three views must be one: ours (asked and told), dhcpd's (what it writes back), and what the clients believe. */
async function expectAgreement(when: string): Promise<void> {
  await waitUntil(settled, { describe: `${when}: dhcpd has written and the follower has read everything`, deadlineMs: 10_000 });
  const theirs = brief(readNaively(await dhcpd.dump()));
  const ours = briefReports(follower.snapshot());
  expect(ours, when).toEqual(theirs);
  expect(briefReports([...listened.values()]), `${when}, as told`).toEqual(theirs);
  const used = [...theirs].flatMap(([address, [kind, mac]]) => (kind === "in use" ? [[address, mac] as const] : []));
  expect(new Map(used), `${when}, clients`).toEqual(new Map([...crowd.holders(now())].sort(byAddress)));
}

/** Releases and declines have no answer, so look for their traces; then nothing more is to come. */
function settled(): boolean {
  const file = readNaively(readFileSync(dhcpd.leasesFile, "utf8"));
  const used = [...file].filter(([, lease]) => isUsed(lease)).map(([address]) => address);
  const holders = crowd.holders(now());
  const declined = [...crowd.declined].every((address) => file.get(address)?.state === "abandoned" || holders.has(address));
  const { offset, state } = follower.health();
  return used.length === holders.size && declined && state.kind === "following" && offset === statSync(dhcpd.leasesFile).size;
}

type Brief = readonly ["in use", string | null, number | null] | readonly ["abandoned"];

/** What matters of each address that is not simply free. */
function brief(leases: ReadonlyMap<string, NaiveLease>): Map<string, Brief> {
  const entries = [...leases].flatMap(([address, lease]): [string, Brief][] => {
    if (lease.state === "abandoned") return [[address, ["abandoned"]]];
    return isUsed(lease) ? [[address, ["in use", lease.mac, lease.ends]]] : [];
  });
  return new Map(entries.sort(byAddress));
}

function briefReports(reports: readonly LeaseReport[]): Map<string, Brief> {
  const entries = reports.flatMap(({ address, state, inUse, hardwareAddress, ends }): [string, Brief][] => {
    if (state === "abandoned") return [[address, ["abandoned"]]];
    return inUse ? [[address, ["in use", hardwareAddress, ends === "never" ? null : ends]]] : [];
  });
  return new Map(entries.sort(byAddress));
}

function byAddress(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : 1;
}

function isUsed(lease: NaiveLease): boolean {
  return lease.state === "active" && (lease.ends === null || lease.ends > now());
}

function inodeOf(): number {
  return statSync(dhcpd.leasesFile).ino;
}

/** dhcpd's time. */
function nowMs(): number {
  return Date.now() + dhcpd.aheadSeconds * 1000;
}

function now(): number {
  return nowMs() / 1000;
}
