import { kill } from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderOmapiKey } from "@berth/core";
import type { Host } from "../host.js";
import { startDhcpd } from "../lab-daemons.js";
import { createLab, type Lab } from "../lab.js";
import { strangerMac, type Exchange, type RawDhcpClient } from "../raw-dhcp-client.js";
import { requireTools } from "../require-tools.js";
import type { Running } from "../running.js";
import { waitUntil } from "../wait-until.js";
import { OmapiAsker } from "./omapi-asker.js";

const PORT = 7911;
const SECRET = Buffer.alloc(32, 7).toString("base64");
const OTHER_SECRET = Buffer.alloc(32, 8).toString("base64");

const conf = (more = ""): string => `${renderOmapiKey(SECRET)}
omapi-port ${PORT};
omapi-key berth-omapi;
ping-check false;
authoritative;
${more}
subnet 192.168.50.0 netmask 255.255.255.0 { option dhcp-server-identifier 192.168.50.1; pool { range 192.168.50.100 192.168.50.103; } }
`;

const failoverConf = (rack: { own: string; other: string; role: string }): string => `${renderOmapiKey(SECRET)}
omapi-port ${PORT};
omapi-key berth-omapi;
failover peer "pair" {
  ${rack.role};
  address ${rack.own}; port 647; peer address ${rack.other}; peer port 647;
  max-response-delay 10; max-unacked-updates 10;
  ${rack.role === "primary" ? "mclt 60; split 128; load balance max seconds 3;" : ""}
}
subnet 10.9.0.0 netmask 255.255.255.0 { pool { failover peer "pair"; range 10.9.0.100 10.9.0.107; } }
`;

describe("the agent's OMAPI client against real dhcpd", () => {
  let lab: Lab;
  let rack: Host;
  let wire: RawDhcpClient;
  let dhcpd: Running;
  let asker: OmapiAsker;
  beforeAll(async () => {
    requireTools(["ip", "dhcpd", "gcc"]);
    lab = await createLab({ name: "omapi" });
    const link = await lab.addLink("rack1");
    rack = await lab.addHost("rack1");
    await rack.connect(link, { addresses: ["192.168.50.1/24"] });
    wire = await (await lab.addMachine("crowd", link)).rawDhcp();
    dhcpd = await startDhcpd(rack, conf());
    asker = await OmapiAsker.start(rack, { port: PORT, secret: SECRET });
  });
  afterAll(async () => {
    await wire.close();
    await lab.close();
  });

  const dora = async (n: number): Promise<Exchange & { readonly address: string }> => {
    const exchange = await wire.dora({ mac: strangerMac(n) });
    if (exchange.address === null) throw new Error(`stranger ${n} got no address`);
    return { ...exchange, address: exchange.address };
  };

  it("looks a lease up by its address", async () => {
    const { address } = await dora(1);
    const found = await asker.lookUp(address);
    expect(found.value).toMatchObject({ address, state: "active", hardwareAddress: strangerMac(1) });
    expect(found.value?.ends).toBeGreaterThan(found.value?.starts ?? Infinity);
    expect((await asker.lookUp("10.1.1.1")).problems?.map(({ code }) => code)).toEqual(["omapi-not-found"]);
  });

  it("frees exactly the lease that is meant, and dhcpd gives the address to the next", async () => {
    const held = [];
    for (const n of [1, 2, 3, 4]) held.push(await dora(n));
    expect((await wire.discover({ mac: strangerMac(5) }, { attempts: 1 }))?.address ?? null).toBeNull();
    const { address } = held[1] ?? { address: "" };
    const { ends = null } = (await asker.lookUp(address)).value ?? {};
    const lease = { address, mac: strangerMac(2), ends: ends ?? 0 };
    for (const wrong of [
      { ...lease, mac: strangerMac(9) },
      { ...lease, ends: lease.ends + 1 },
    ])
      expect((await asker.free(wrong)).problems?.map(({ code }) => code)).toEqual(["lease-changed"]);
    expect((await asker.lookUp(address)).value?.state).toBe("active");
    expect((await asker.free(lease)).value).toMatchObject({ address, state: "free" });
    expect((await dora(5)).address).toBe(address);
  });

  it("is refused with another key", async () => {
    const stranger = await OmapiAsker.start(rack, { port: PORT, secret: OTHER_SECRET });
    expect((await stranger.lookUp("192.168.50.100")).problems?.map(({ code }) => code)).toEqual(["omapi-key-refused"]);
    expect((await asker.lookUp("192.168.50.100")).ok).toBe(true);
  });

  it("says that dhcpd is away while it restarts, and goes on afterwards", async () => {
    await dhcpd.stop();
    expect(await asker.lookUp("192.168.50.100")).toEqual({ failed: "omapi-unreachable" });
    dhcpd = await startDhcpd(rack, conf());
    expect((await asker.lookUp("192.168.50.100")).ok).toBe(true);
  });

  it("tells a failover pair that the peer is down for good", async () => {
    const peer = await lab.addHost("rack2");
    const link = await lab.addLink("pair");
    const racks = [
      { host: await lab.addHost("rack3"), own: "10.9.0.1", other: "10.9.0.2", role: "primary" },
      { host: peer, own: "10.9.0.2", other: "10.9.0.1", role: "secondary" },
    ] as const;
    const started: Running[] = [];
    for (const { host, own, other, role } of racks) {
      await host.connect(link, { addresses: [`${own}/24`] });
      started.push(await startDhcpd(host, failoverConf({ own, other, role })));
    }
    const survivor = await OmapiAsker.start(peer, { port: PORT, secret: SECRET });
    const state = async (): Promise<string | undefined> => (await survivor.failover("pair")).value?.localState;
    await waitUntil(state, { describe: "the pair is normal", deadlineMs: 30_000, until: (now) => now === "normal" });
    started[0]?.kill();
    await waitUntil(state, {
      describe: "the peer is missed",
      deadlineMs: 30_000,
      until: (now) => now === "communications-interrupted",
    });
    expect((await survivor.partnerDown("pair")).value).toMatchObject({ name: "pair", localState: "partner-down" });
    expect((await survivor.partnerDown("other")).problems?.map(({ code }) => code)).toEqual(["omapi-not-found"]);
  });

  it("does not wait for a dhcpd that hangs", async () => {
    kill(dhcpd.pid, "SIGSTOP");
    try {
      expect(await asker.lookUp("192.168.50.100")).toEqual({ failed: "omapi-timeout" });
    } finally {
      kill(dhcpd.pid, "SIGCONT");
    }
    expect((await asker.lookUp("192.168.50.100")).ok).toBe(true);
  });
});
