import { resolve } from "node:path";
import { lease4Contract, lease6Contract, type Lease } from "@berth/core";
import { createLog, EnvironmentError, localFollowFiles, type Clock } from "@berth/host";
import { followKeaLeases, followLeases } from "../observe/leases/follow-leases.js";
import { leasesWriter } from "../observe/leases/read-leases.js";
import type { LeaseChange, LeaseFollower } from "../observe/leases/model.js";
import type { AgentCliPorts } from "./agent-cli-ports.js";

export type LeasesFollowPorts = Pick<AgentCliPorts, "clock" | "stdout" | "stderr" | "endingSignal">;

/**
 * `berth-agent leases FILE --follow`: prints the table, then every change until the program is asked to end. A file that is not there yet
 * is waited for, and Kea's or dhcpd's is known as soon as it holds something. Trouble with it is told on standard error.
 */
export async function followLeasesFile(
  options: { readonly file: string; readonly json: boolean },
  ports: LeasesFollowPorts,
): Promise<void> {
  const log = createLog({ level: "warn", write: (line) => ports.stderr(told(options.file, messageOf(line))) });
  const path = resolve(options.file);
  const ending = ports.endingSignal();
  let writer = (await writerNow(path)) ?? "dhcpd";
  while (!ending.aborted) {
    const turn = new AbortController();
    const signal = AbortSignal.any([ending, turn.signal]);
    const follower = (writer === "kea" ? followKeaLeases : followLeases)(path, { clock: ports.clock, log });
    printChanges(follower, options.json, ports);
    const other = untilOther(writer, path, { clock: ports.clock, signal }).finally(() => turn.abort());
    await follower.run(signal).finally(() => turn.abort());
    writer = (await other) ?? writer;
  }
}

function printChanges(follower: LeaseFollower, json: boolean, ports: LeasesFollowPorts): void {
  follower.onChange((change) => {
    const now = ports.clock.now();
    const print = json ? jsonLine : textLine;
    let piece = "";
    for (const key of change.keys) {
      piece += print({ key, lease: follower.lease(key), reset: isFirst(change, key), now });
      if (piece.length < PIECE) continue;
      ports.stdout(piece);
      piece = "";
    }
    if (piece !== "") ports.stdout(piece);
  });
}

type Writer = NonNullable<Awaited<ReturnType<typeof leasesWriter>>>;
const LOOK_MS = 500;

/** Who writes the file, once that is another; null when aborted before. */
async function untilOther(
  writer: Writer,
  path: string,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Writer | null> {
  for (;;) {
    await clock.sleep(LOOK_MS, signal).catch(() => undefined); // aborted: the next line ends it
    if (signal.aborted) return null;
    const now = await writerNow(path);
    if (now !== null && now !== writer) return now;
  }
}

/** Characters printed at a time: the first table of a large file is never one text. */
const PIECE = 64 * 1024;

/** Many a sentence begins with the path. */
function told(file: string, message: string): string {
  return message.startsWith(resolve(file)) ? `${message}\n` : `${file}: ${message}\n`;
}

/** A file that cannot be read now is the follower's to tell of. */
async function writerNow(path: string): Promise<Writer | null> {
  try {
    return await leasesWriter(path, localFollowFiles);
  } catch (error) {
    if (error instanceof EnvironmentError) return null;
    throw error;
  }
}

interface Told {
  readonly key: string;
  readonly lease: ReturnType<LeaseFollower["lease"]>;
  /** Everything told before this line is void. */
  readonly reset: boolean;
  readonly now: number;
}

/** `{"time","key","lease"}` with the lease as in `berth-agent leases --json`, null when it is no longer in the file. */
function jsonLine({ key, lease, reset, now }: Told): string {
  const contract = lease === null ? null : contractOf(lease, now);
  return `${JSON.stringify({ time: isoTime(now), ...(reset ? { reset } : {}), key, lease: contract })}\n`;
}

function textLine({ key, lease, now }: Told): string {
  if (lease === null) return `${isoTime(now)}  ${key}  gone\n`;
  const { state, in_use: inUse, mac, ends } = contractOf(lease, now);
  const lapsed = state === "active" && !inUse ? "lapsed" : state;
  const label = lease.family === 4 ? lease4Contract(lease, now).dns_label : null;
  const until = ends === null ? "" : `  until ${ends}`;
  return `${isoTime(now)}  ${key}  ${lapsed}  ${mac ?? "-"}${until}${label === null ? "" : `  ${label}`}\n`;
}

function contractOf(lease: Lease, now: number): ReturnType<typeof lease4Contract> | ReturnType<typeof lease6Contract> {
  return lease.family === 4 ? lease4Contract(lease, now) : lease6Contract(lease, now);
}

function isFirst(change: LeaseChange, key: string): boolean {
  return change.reset && change.keys[0] === key;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** The log's own form is JSON; people read the sentence. */
function messageOf(line: string): string {
  const { msg } = JSON.parse(line) as { readonly msg?: string };
  return msg ?? line.trimEnd();
}
