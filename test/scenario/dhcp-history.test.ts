import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compileDhcpd, ipPrefix, renderDhcpd } from "@berth/core";
import { linkAt, subnetOf } from "../fixtures/dhcpd/subnet.js";
import { DhcpRack } from "../lab/dhcp-rack.js";
import { createRandom } from "../lab/kill-rounds.js";
import { startDhcpd } from "../lab/lab-daemons.js";
import { createLab, type Lab } from "../lab/lab.js";
import { strangerMac } from "../lab/raw-dhcp-client.js";

const LEASES = 60_000;
const LEASE_TIME = 120;
const SUBNET = {
  ...subnetOf({ mode: "link-local", gateway: null }),
  enlistment: { slice: ipPrefix("169.254.0.0/16"), leaseTime: LEASE_TIME },
};

let lab: Lab;
beforeAll(async () => {
  lab = await createLab({ name: "dhcp-history" });
});
afterAll(() => lab.close());

it("a rack that comes back with 60,000 ended link-local leases in its file serves again at once", {
  timeout: 300_000,
}, async () => {
  const rack = await DhcpRack.create(lab);
  await rack.host.ip("address", "add", "169.254.1.0/16", "dev", "eth0");
  rack.desireSubnet(SUBNET);
  await rack.reconcile();
  await rack.host.run(["kill", String(await rack.dhcpdPid())]);
  const file = endedLeases();
  expect(countBlocks(file)).toBe(LEASES);

  writeFileSync(rack.file("dhcpd.leases"), file);
  const { told } = await rack.reconcile();
  expect(told?.activations.at(-1)).toMatchObject({ step: "start", outcome: "serves" });
  const offer = await rack.clients.discover({ mac: strangerMac(1) }, { waitMs: 3_000 });
  expect(offer?.address).toMatch(/^169\.254\./);
  // Nothing of the history is left for dhcpd to sort.
  expect(countBlocks(readFileSync(rack.file("dhcpd.leases"), "utf8"))).toBeLessThan(10);
  await rack.host.run(["kill", String(await rack.dhcpdPid())]);

  // What dhcpd alone takes, with the same pools.
  const config = compileDhcpd({ subnets: [SUBNET] }, { links: [linkAt("eth0", 1, "192.168.50.1")] });
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  writeFileSync(rack.host.path("dhcpd-eth0.leases"), file);
  const begin = performance.now();
  const dhcpd = await startDhcpd(rack.host, renderDhcpd(config.value));
  const alone = Math.round(performance.now() - begin);
  await dhcpd.stop();
  console.log(`60,000 ended leases: Berth serves after ${told?.activations.at(-1)?.tookMs} ms, dhcpd alone after ${alone} ms`);
});

/** All ended while the rack was down, in no order, hours ago. */
function endedLeases(): string {
  const random = createRandom(60_000);
  const now = Math.floor(Date.now() / 1_000);
  const blocks: string[] = [];
  for (let n = 0; n < LEASES; n++) {
    const host = 0x100 + n + 1;
    const ends = now - 7_200 - Math.floor(random() * 36_000);
    const mac = n.toString(16).padStart(8, "0").match(/../g)?.join(":");
    blocks.push(
      `lease 169.254.${host >> 8}.${host & 255} {\n  starts epoch ${ends - LEASE_TIME};\n  ends epoch ${ends};\n  cltt epoch ${ends - LEASE_TIME};\n` +
        `  binding state active;\n  next binding state free;\n  rewind binding state free;\n  hardware ethernet 02:53:${mac};\n}\n`,
    );
  }
  return `authoring-byte-order little-endian;\n\n${blocks.join("")}`;
}

function countBlocks(file: string): number {
  return (file.match(/^lease /gm) ?? []).length;
}
