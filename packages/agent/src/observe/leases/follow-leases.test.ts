import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog, systemClock } from "@berth/host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { followKeaLeases, followLeases } from "./follow-leases.js";
import type { LeaseFollower } from "./model.js";

let root: string;
let directory: string;
let stop: AbortController;
let ended: Promise<void>;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "berth-follow-"));
  directory = join(root, "dhcp");
  await mkdir(directory);
  stop = new AbortController();
});

afterEach(async () => {
  stop.abort();
  await ended;
  await rm(root, { recursive: true });
});

const ports = { clock: systemClock, log: silentLog };

describe("followLeases on real files", () => {
  it("goes on when its directory is moved away and made anew", async () => {
    const file = join(directory, "dhcpd.leases");
    await writeFile(file, lease(1));
    const follower = start(followLeases(file, ports));
    await holds(follower, ["192.0.2.1"]);
    await rename(directory, `${directory}.old`);
    await expect.poll(() => follower.health().watching.kind, { timeout: 5_000 }).toBe("no-directory");
    expect(addresses(follower)).toEqual(["192.0.2.1"]);
    await mkdir(directory);
    await writeFile(file, lease(2));
    await holds(follower, ["192.0.2.2"]);
    await expect.poll(() => follower.health().watching.kind, { timeout: 5_000 }).toBe("events");
    const { wakes } = follower.health();
    await appendFile(file, lease(3));
    await holds(follower, ["192.0.2.2", "192.0.2.3"]);
    await expect.poll(() => follower.health().wakes, { timeout: 5_000 }).toBeGreaterThan(wakes);
  });

  it("watches a directory that got the inode number of the one before", async () => {
    const file = join(directory, "dhcpd.leases");
    const follower = start(followLeases(file, ports));
    await expect.poll(() => follower.health().watching.kind, { timeout: 5_000 }).toBe("events");
    await rm(directory, { recursive: true });
    await mkdir(directory); // most filesystems give the number that has just become free
    await writeFile(file, lease(1));
    await holds(follower, ["192.0.2.1"]);
    // The new watch is there when an append raises an event.
    let appended = 1;
    await expect
      .poll(
        async () => {
          const { wakes } = follower.health();
          await appendFile(file, lease(++appended));
          await expect.poll(() => addresses(follower).length, { timeout: 5_000, interval: 5 }).toBe(appended);
          return follower.health().wakes > wakes;
        },
        { timeout: 8_000 },
      )
      .toBe(true);
  });
});

describe("followKeaLeases on real files", () => {
  const header = "address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context\n";
  const line = (host: number): string => `192.0.2.${host},02:53:00:00:00:01,,600,4000000000,1,0,0,,0,\n`;

  it("keeps everything through a clean-up", async () => {
    const file = join(directory, "leases4.csv");
    await writeFile(`${file}.2`, header + line(1));
    await writeFile(file, header + line(2));
    const follower = start(followKeaLeases(file, ports));
    await holds(follower, ["192.0.2.1", "192.0.2.2"]);
    const gone: string[] = [];
    follower.onChange((change) => gone.push(...change.gone));
    await rename(file, `${file}.1`);
    await writeFile(file, header);
    await appendFile(file, line(3));
    await holds(follower, ["192.0.2.1", "192.0.2.2", "192.0.2.3"]);
    await writeFile(`${file}.output`, header + line(1) + line(2));
    await rename(`${file}.output`, `${file}.completed`);
    await rm(`${file}.1`);
    await rename(`${file}.completed`, `${file}.2`);
    await appendFile(file, line(4));
    await holds(follower, ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]);
    expect(gone).toEqual([]);
  });

  it("takes the finished clean-up in place of what it was made of", async () => {
    const file = join(directory, "leases4.csv");
    await writeFile(`${file}.completed`, header + line(1));
    await writeFile(`${file}.2`, header + line(8));
    await writeFile(`${file}.1`, header + line(9));
    await writeFile(file, header + line(2));
    await holds(start(followKeaLeases(file, ports)), ["192.0.2.1", "192.0.2.2"]);
  });
});

function start(follower: LeaseFollower): LeaseFollower {
  ended = follower.run(stop.signal);
  return follower;
}

function addresses(follower: LeaseFollower): string[] {
  return follower.snapshot().map(({ address }) => address);
}

async function holds(follower: LeaseFollower, wanted: readonly string[]): Promise<void> {
  await expect.poll(() => addresses(follower).sort(), { timeout: 8_000, interval: 5 }).toEqual(wanted);
}

function lease(host: number): string {
  return `lease 192.0.2.${host} {
  starts 4 2025/12/25 00:00:00;
  ends 4 2037/12/31 00:00:00;
  binding state active;
  hardware ethernet 00:00:5e:00:53:01;
}
`;
}
