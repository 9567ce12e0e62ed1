import { accepted, ipAddress, refused, type DesiredState, type HardwareAddress, type OmapiLease, type Result } from "@berth/core";
import { createLog, EnvironmentError } from "@berth/host";
import { createFakeClock } from "@berth/host/fakes";
import { expect, test } from "vitest";
import type { LeaseToFree } from "../omapi/omapi-client.js";
import { createLeaseRetirer, type LeaseRetirer } from "./lease-retirer.js";

const SIGNAL = new AbortController().signal;
const NOW = 1_796_040_000_000;
const MAC = "02:00:5e:00:53:01" as HardwareAddress;
const LEASE = { address: ipAddress("192.168.50.150"), hardwareAddress: MAC, ends: NOW / 1000 + 600 };
const LINKS = { links: [{ name: "eth0", subnetId: 1, address: ipAddress("192.168.50.1") }] };
const FREE: OmapiLease = { handle: 1, address: LEASE.address, state: "free", hardwareAddress: MAC, starts: 0, ends: 0 };

interface World {
  wire: readonly HardwareAddress[] | "unreachable";
  free: () => Result<OmapiLease>;
  retired: (typeof LEASE)[];
  readonly asked: string[];
  readonly freed: LeaseToFree[];
  readonly retirer: LeaseRetirer;
}

function worldOf(): World {
  const clock = createFakeClock(NOW);
  const log = createLog({ level: "error", journal: false, write: () => undefined });
  const world = {
    wire: [] as World["wire"],
    free: () => accepted(FREE),
    retired: [LEASE],
    asked: [] as string[],
    freed: [] as LeaseToFree[],
  };
  const subnet = { id: 1, prefix: "192.168.50.0/24", enlistment: null };
  const retirer = createLeaseRetirer({
    clock,
    log,
    omapi: {
      freeLease: (lease) => {
        world.freed.push(lease);
        return Promise.resolve().then(() => world.free());
      },
    },
    prober: {
      probe: (targets) => {
        world.asked.push(...targets.map(({ address, interfaceName, source }) => `${interfaceName} ${source} ${address}`));
        const { wire } = world;
        if (wire === "unreachable")
          return Promise.reject(new EnvironmentError("wire-unreachable", "eth0", "no datagram can be sent"));
        return Promise.resolve(targets.map((target) => ({ target, hardwareAddresses: wire })));
      },
    },
    desired: () => ({ subnets: [subnet], retired: world.retired }) as unknown as DesiredState,
    links: () => LINKS,
  });
  return Object.assign(world, { retirer });
}

test("a lease is freed once, after its wire was asked", async () => {
  const world = worldOf();
  const pause = await world.retirer.pass(SIGNAL);
  await world.retirer.pass(SIGNAL);
  expect(world.asked).toEqual(["eth0 192.168.50.1 192.168.50.150"]);
  expect(world.freed).toMatchObject([LEASE]);
  expect(pause).toBeGreaterThan(60_000);
});

test("an address at which somebody answers, or of which nobody can tell, is left to its end and asked about again", async () => {
  const world = worldOf();
  for (const wire of [[MAC], "unreachable"] as const) {
    world.wire = wire;
    expect(await world.retirer.pass(SIGNAL)).toBeLessThanOrEqual(10_000);
    expect(world.retirer.problem()?.code).toBe(wire === "unreachable" ? "wire-unreachable" : undefined);
  }
  expect(world.freed).toEqual([]);
  world.wire = [];
  await world.retirer.pass(SIGNAL);
  expect(world.freed).toHaveLength(1);
});

test("a lease that changed meanwhile is left alone for good", async () => {
  const world = worldOf();
  world.free = () => refused({ code: "lease-changed", at: "lease", message: "renewed" });
  await world.retirer.pass(SIGNAL);
  await world.retirer.pass(SIGNAL);
  expect(world.freed).toHaveLength(1);
  expect(world.retirer.problem()).toBeNull();
});

test("a dhcpd that cannot be asked is named, asked again, and the name goes when it answers", async () => {
  const world = worldOf();
  world.retired = [LEASE, { ...LEASE, address: ipAddress("192.168.50.151") }];
  world.free = () => {
    throw new EnvironmentError("omapi-timeout", "127.0.0.1:7911", "no answer");
  };
  expect(await world.retirer.pass(SIGNAL)).toBeLessThanOrEqual(10_000);
  expect(world.retirer.problem()?.code).toBe("omapi-timeout");
  expect(world.freed).toHaveLength(1);
  world.free = () => refused({ code: "omapi-key-refused", at: "127.0.0.1:7911", message: "no" });
  await world.retirer.pass(SIGNAL);
  expect(world.retirer.problem()?.code).toBe("omapi-key-refused");
  world.free = () => accepted(FREE);
  await world.retirer.pass(SIGNAL);
  expect(world.retirer.problem()).toBeNull();
});

test("a lease outside every wire of this rack, or over, is nobody's business here", async () => {
  const world = worldOf();
  world.retired = [
    { ...LEASE, address: ipAddress("10.9.9.9") },
    { ...LEASE, ends: NOW / 1000 - 1 },
  ];
  await world.retirer.pass(SIGNAL);
  expect(world.asked).toEqual([]);
});
