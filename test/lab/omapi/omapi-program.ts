import { createInterface } from "node:readline";
import { ipAddress, type HardwareAddress } from "@berth/core";
import { EnvironmentError, systemClock } from "@berth/host";
import { createOmapiClient } from "../../../packages/agent/src/omapi/omapi-client.js";

/** Asks dhcpd from the network namespace it runs in: each line on standard input is a call, each line on standard output its outcome. */
const [port = "", secret = "", timeoutMs = ""] = process.argv.slice(2);
const client = createOmapiClient(
  { port: Number(port), secret: Buffer.from(secret, "base64"), timeoutMs: Number(timeoutMs) },
  systemClock,
);

for await (const line of createInterface({ input: process.stdin })) {
  const [call, ...args] = JSON.parse(line) as [string, ...string[]];
  process.stdout.write(`${JSON.stringify(await outcomeOf(call, args))}\n`);
}

async function outcomeOf(call: string, [name = "", mac = "", ends = ""]: readonly string[]): Promise<unknown> {
  try {
    switch (call) {
      case "look-up":
        return await client.lookUpLease(ipAddress(name));
      case "free":
        return await client.freeLease({
          address: ipAddress(name),
          hardwareAddress: mac as HardwareAddress,
          ends: Number(ends),
        });
      case "failover":
        return await client.failoverState(name);
      default:
        return await client.setPartnerDown(name);
    }
  } catch (error) {
    if (error instanceof EnvironmentError) return { failed: error.code };
    throw error;
  }
}
