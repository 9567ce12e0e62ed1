import { describe, expect, it } from "vitest";
import { ipAddress } from "../address/ip.js";
import type { HostInterface } from "../interface/model.js";
import { probeTargets } from "./probe-targets.js";

const UP = ["BROADCAST", "UP", "LOWER_UP"];
const nic = (name: string, flags: readonly string[]): HostInterface => ({
  ...{ name, index: 1, parent: null, kind: null, vlanId: null, hardwareAddress: null, permanentAddress: null, mtu: null },
  ...{ flags, addresses: [] },
});
const link = (name: string, subnetId: number, address: string) => ({ name, subnetId, address: ipAddress(address) });
const serves = (...ids: number[]) =>
  ids.map((subnetId) => ({ subnets: [{ subnetId }] })) as unknown as Parameters<typeof probeTargets>[0];

describe("probeTargets", () => {
  it("has one target for each served link that carries, by the rack's address in a served subnet", () => {
    const local = {
      links: [
        link("eth1", 3, "192.0.2.65"),
        link("eth0", 1, "192.0.2.1"),
        link("eth0", 2, "192.0.2.33"),
        link("eth2", 4, "192.0.2.97"),
      ],
    };
    const interfaces = [nic("eth0", UP), nic("eth1", UP), nic("eth2", ["BROADCAST", "UP"])];
    expect(probeTargets(serves(2, 3, 4), local, interfaces)).toEqual([
      { link: "eth0", address: "192.0.2.33" },
      { link: "eth1", address: "192.0.2.65" },
    ]);
  });

  it("counts unknown flags as up", () => {
    const local = { links: [link("eth0", 1, "192.0.2.1")] };
    expect(probeTargets(serves(1), local, [nic("eth0", [])])).toHaveLength(1);
    expect(probeTargets(serves(1), local, [])).toHaveLength(1);
  });
});
