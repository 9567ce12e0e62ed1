import { createLeaseReader } from "../../packages/core/src/lease/dhcpd/lease-reader.js";
import { openTail } from "../../packages/agent/src/observe/leases/tail.js";
import { localFollowFiles } from "../../packages/host/src/watch-files.js";

/**
 * The program that is measured: reads the file named on its command line once, in a fresh process and with cold code, by the calls with which the agent does it at
 * its start. Prints what it holds, how long it took from open to close, and how much memory.
 */
const path = process.argv[2] ?? "";
const started = performance.now();
const cpuBefore = process.cpuUsage();
const reader = createLeaseReader();
const tail = await openTail(localFollowFiles, path);
await tail?.readOn({ size: Number.POSITIVE_INFINITY, modified: "" }, (bytes) => reader.push(bytes));
await tail?.close();
const readMs = performance.now() - started;
// Of all threads: the compiler's too.
const cpu = process.cpuUsage(cpuBefore);
const cpuMs = (cpu.user + cpu.system) / 1000;
const peakKib = process.resourceUsage().maxRSS;
const idleKib = Math.round(process.memoryUsage().rss / 1024);
process.stdout.write(
  `${JSON.stringify({ leases: reader.table.size, skipped: reader.skippedDeclarations, readMs, cpuMs, peakKib, idleKib })}\n`,
);
