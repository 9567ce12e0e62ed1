import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  addressPlus,
  compileDhcpd,
  ipAddress,
  ipPrefix,
  parseHardwareAddress,
  DhcpdWriter,
  type DesiredHost,
  type DesiredSubnet,
  type RackLinks,
} from "@berth/core";
import { systemFiles } from "@berth/host";
import { runProgram } from "../lab/run-program.js";
import { median } from "./measurement.js";

const ROUNDS = 7;
const SUBNET = ipPrefix("10.60.0.0/16");
const RACK = ipAddress("10.60.0.1");

export interface TextTimes {
  /** Median milliseconds: desired state to a file that outlasts a power cut. */
  readonly oursMs: number;
  /** `dhcpd -t` on that file. */
  readonly checkMs: number;
}

/** Both in each round, so that a busy moment of the machine meets both. */
export async function measureText(hosts: number): Promise<TextTimes> {
  // Beside this file and not in a temporary folder, which may be memory: the bar is about a disk.
  const folder = mkdtempSync(fileURLToPath(new URL("results-dhcp-", import.meta.url)));
  const path = join(folder, "dhcpd.conf");
  const subnets = [subnetWith(hosts)];
  const links: RackLinks = { links: [{ name: "eth0", subnetId: 1, address: RACK }] };
  const times: { ours: number; check: number }[] = [];
  try {
    for (let round = -2; round < ROUNDS; round++) {
      const ours = await milliseconds(async () => {
        const config = compileDhcpd({ subnets }, links);
        if (!config.ok) throw new Error(JSON.stringify(config.problems));
        await systemFiles.replace(path, new DhcpdWriter().write(config.value).octets);
      });
      const check = await milliseconds(async () => {
        const { status, stderr } = await runProgram(["dhcpd", "-t", "-q", "-cf", path], { timeoutMs: 60_000 });
        if (status !== 0) throw new Error(`dhcpd -t ended with ${status}: ${stderr}`);
      });
      if (round >= 0) times.push({ ours, check }); // the first rounds warm the compiler up
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { oursMs: median(times.map(({ ours }) => ours)), checkMs: median(times.map(({ check }) => check)) };
}

async function milliseconds(act: () => Promise<void>): Promise<number> {
  const start = process.hrtime.bigint();
  await act();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function subnetWith(count: number): DesiredSubnet {
  return {
    ...{ id: 1, prefix: SUBNET, mode: "static", gateway: null, domain: "rack1.example", window: null, enlistment: null },
    ...{ excluded: [], dns: [RACK], ntp: [], leaseTime: 600, maxLeaseTime: 1200 },
    hosts: Array.from({ length: count }, (_, n) => hostNumber(n)),
  };
}

function hostNumber(n: number): DesiredHost {
  const octets = [n >> 16, (n >> 8) & 255, n & 255].map((octet) => octet.toString(16).padStart(2, "0"));
  const hardwareAddress = parseHardwareAddress(`02:00:00:${octets.join(":")}`);
  const address = addressPlus(RACK, n + 1);
  if (hardwareAddress === null || address === null) throw new Error(`no host number ${n}`);
  return { hardwareAddress, address, name: `m${n}.rack1.example` };
}
