import { afterEach, beforeEach, expect, it } from "vitest";
import { ipAddress, ipPrefix, type DesiredState } from "@berth/core";
import { waitUntil } from "../../lab/wait-until.js";
import { subnetOf } from "../../fixtures/dhcpd/subnet.js";
import { admit, createLinkWorld, type LinkWorld } from "./link-world.js";
import { desired, nic, rawPeer, startRack, type TestRack } from "./test-rack.js";

let world: LinkWorld;
let racks: TestRack[];

beforeEach(async () => {
  racks = [];
  world = await createLinkWorld("over TLS");
});

afterEach(async () => {
  await Promise.all(racks.map((rack) => rack.stop()));
  await world.stop();
});

it("a copied state folder: the host that was there first keeps the link, the other is told why, the region names both", async () => {
  const identity = await admit(world, "r1");
  const changes: string[] = [];
  const start = (hostname: string, address: string): TestRack => {
    const rack = startRack(world, identity, { hostname, random: () => 0.05 });
    rack.link.reportHost({ interfaces: [nic("eth0", address)], knowledge: null });
    racks.push(rack);
    return rack;
  };
  const first = start("host-a", "192.0.2.1");
  await waitUntil(() => world.connected(), { describe: "the first is linked", until: (open) => open.length === 1 });
  const copy = start("host-b", "192.0.2.2");
  await waitUntil(() => [first.link.status(), copy.link.status()], {
    describe: "the copy is refused and the first is linked",
    until: ([a, b]) => a?.state === "connected" && b?.problem?.code === "identity-twice",
  });
  expect(copy.link.status().problem).toMatchObject({
    message: "the host host-a has the link of rack r1, whose identity this host has too",
  });
  expect(world.problems()).toMatchObject([
    { code: "identity-twice", at: "r1", message: expect.stringContaining("host-a has the link, host-b is refused") as string },
  ]);
  await waitUntil(() => world.registry().view(identity.rack)?.interfaces[0]?.addresses[0]?.address, {
    describe: "the region knows the addresses of the first",
    until: (address) => address === "192.0.2.1",
  });
  world
    .registry()
    .onChange(() => changes.push(String(world.registry().view(identity.rack)?.interfaces[0]?.addresses[0]?.address)));
  const refused = copy.sent.length;
  await waitUntil(() => copy.sent.length, { describe: "the copy dials on", until: (sent) => sent >= refused + 3 });
  first.link.reportHost({ interfaces: [nic("eth0", "192.0.2.3")], knowledge: null });
  await waitUntil(() => changes, { describe: "the first is heard", until: (seen) => seen.includes("192.0.2.3") });
  expect(changes).not.toContain("192.0.2.2");
  await first.stop();
  await waitUntil(() => copy.link.status().state, { describe: "the copy has the link", until: (state) => state === "connected" });
}, 30_000);

it("an agent that crashes again and again, its old connections half open, gets its link at once every time", async () => {
  const identity = await admit(world, "r1");
  for (let run = 0; run < 8; run++) {
    const peer = await rawPeer(world, identity);
    peer.hello({ hostname: "host-a", stream: `run ${run}` });
    await waitUntil(() => peer.heard, { describe: "welcome", until: ([said]) => said?.type === "welcome" });
  }
  expect(world.problems()).toEqual([]);
});

it("what a rack must run is named when it is too large to be sent, until it is smaller", async () => {
  const rack = startRack(world, await admit(world, "r1"));
  racks.push(rack);
  const { rack: id } = rack.identity;
  const excluded = Array<DesiredState["subnets"][number]["excluded"][number]>(1_000_001).fill(ipAddress("10.0.0.9"));
  const huge = { ...desired(id, 2), subnets: [{ ...subnetOf({ prefix: ipPrefix("10.0.0.0/8") }), excluded }] };
  world.desired.set(id, huge);
  await waitUntil(() => world.problems(), {
    describe: "the problem",
    until: ([problem]) => problem?.code === "desired-too-large",
  });
  expect(world.problems()).toMatchObject([{ at: "r1", message: expect.stringContaining("subnet 10.0.0.0/8") as string }]);
  await waitUntil(() => rack.link.status(), { describe: "the link", until: ({ state }) => state === "connected" });
  expect(rack.taken).toEqual([]);
  world.desired.set(id, desired(id, 3));
  world.push(id);
  await waitUntil(() => rack.taken, { describe: "generation 3 arrived", until: (taken) => taken.at(-1)?.generation === 3 });
  expect(world.problems()).toEqual([]);
});
