import { closeSync, openSync, readSync } from "node:fs";
import { createLeaseReader } from "@berth/core";

/**
 * The program that is measured: reads the file named on its command line once, as the agent does at its start, and prints what it holds and how much
 * memory that took.
 */
const READ_BYTES = 1024 * 1024;
const path = process.argv[2] ?? "";
const reader = createLeaseReader();
const file = openSync(path, "r");
const buffer = new Uint8Array(READ_BYTES);
for (let length = readSync(file, buffer); length > 0; length = readSync(file, buffer)) reader.push(buffer.subarray(0, length));
closeSync(file);
const rss = process.memoryUsage().rss;
process.stdout.write(`${JSON.stringify({ leases: reader.table.size, skipped: reader.skippedDeclarations, diagnostics: reader.diagnostics().length, peakKib: process.resourceUsage().maxRSS, rssKib: Math.round(rss / 1024) })}\n`);
