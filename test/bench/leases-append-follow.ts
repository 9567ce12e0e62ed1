import { createLeaseReader } from "@berth/core";
import { localFollowFiles, networkFollowFiles, silentLog, systemClock } from "@berth/host";
import { createLeaseFollower } from "../../packages/agent/src/observe/leases/lease-follower.js";

/** Our end of the append benchmark, in a process of its own: prints one latency (ns) for each block that a listener was told of. */
const [path = "", count = "0"] = process.argv.slice(2);
const latencies: bigint[] = [];
let newest = 0n;
const stop = new AbortController();
const follower = createLeaseFollower({
  path,
  clock: systemClock,
  ports: { local: localFollowFiles, network: networkFollowFiles },
  log: silentLog,
  createReader: createLeaseReader,
});
follower.onChange((change) => {
  // The block is in the table now. The anchor, too, takes the time before it looks for what it has read.
  const at = process.hrtime.bigint();
  if (change.reset) process.stderr.write("ready\n");
  for (const { dnsLabel } of change.upserts) {
    const written = BigInt(dnsLabel?.startsWith("t") === true ? dnsLabel.slice(1) : 0);
    if (written <= newest) continue; // a block that we were told of twice must not count for one that was lost
    newest = written;
    latencies.push(at - written);
  }
  if (latencies.length >= Number(count)) stop.abort();
});
process.once("SIGTERM", () => stop.abort());
await follower.run(stop.signal);
process.stdout.write(`${latencies.join("\n")}\n`);
