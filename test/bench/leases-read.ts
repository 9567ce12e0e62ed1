import { closeSync, openSync, readSync } from "node:fs";
import { createLeaseReader } from "../../packages/core/src/lease/dhcpd/lease-reader.js";

/**
 * The program that is measured: reads the file named on its command line once, in a fresh process and with cold code, as the agent does at its start. Prints
 * what it holds, how long it took from open to close, and how much memory.
 */
const READ_BYTES = 256 * 1024;
const path = process.argv[2] ?? "";
const started = performance.now();
const cpuBefore = process.cpuUsage();
const reader = createLeaseReader();
const file = openSync(path, "r");
const buffer = new Uint8Array(READ_BYTES);
for (let length = readSync(file, buffer); length > 0; length = readSync(file, buffer)) reader.push(buffer.subarray(0, length));
closeSync(file);
const readMs = performance.now() - started;
// Of all threads: the compiler's too.
const cpu = process.cpuUsage(cpuBefore);
const cpuMs = (cpu.user + cpu.system) / 1000;
const peakKib = process.resourceUsage().maxRSS;
const idleKib = Math.round(process.memoryUsage().rss / 1024);
process.stdout.write(
  `${JSON.stringify({ leases: reader.table.size, skipped: reader.skippedDeclarations, readMs, cpuMs, peakKib, idleKib })}\n`,
);
