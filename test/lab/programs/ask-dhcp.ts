// For ask-dhcp.test.ts: asks this host's dhcpd whether it answers and prints what came of it. ask-dhcp.ts FAMILY LINK ADDRESS
import { EnvironmentError } from "@berth/host";
import { ipAddress } from "@berth/core";
import { askDhcp4, askDhcp6 } from "../../../packages/agent/dist/dhcp/ask-dhcp.js";

const [family, link = "", address = ""] = process.argv.slice(2);
const ask = family === "6" ? askDhcp6 : askDhcp4;
const begin = performance.now();
try {
  const answered = await ask({ link, address: ipAddress(address) }, { transactionId: 0x123456, waitMs: 1_000 });
  console.log(JSON.stringify({ answered, ms: performance.now() - begin }));
} catch (error) {
  if (!(error instanceof EnvironmentError)) throw error;
  console.log(JSON.stringify({ answered: error.code, ms: 0 }));
}
