import { ipAddress } from "@berth/core";
import { askTime } from "../../../packages/agent/src/observe/ntp/ask-time.js";

/** Asks the server named on the command line from the network namespace it runs in, and prints the answer. */
const [server = ""] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(await askTime(ipAddress(server)))}\n`);
