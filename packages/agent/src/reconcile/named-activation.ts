import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Problem } from "@berth/core";
import { EnvironmentError, sha256, type ServiceInstance } from "@berth/host";
import { lastWords, logOffset, readLogSince } from "./daemon-log.js";
import { goalDigest, NAMED_SERVICE, type NamedGoal, type NamedZoneFile } from "./named-goal.js";
import type { NamedPorts } from "./named.js";
import { checkPortFree } from "./port-holder.js";
import { ensureRndcKey } from "./rndc-key.js";
import { askSerial } from "./soa-serial.js";

export interface NamedPaths {
  readonly program: string;
  /** named.conf. */
  readonly conf: string;
  /** Folder of the zone files. */
  readonly zones: string;
  readonly log: string;
  /** Key file of rndc. */
  readonly key: string;
  /** Record of what the running named serves. */
  readonly running: string;
  readonly port: number;
  readonly controlPort: number;
}

const READY = /\brunning$/m;
const READY_DEADLINE_MS = 90_000;
const SERVED_DEADLINE_MS = 60_000;
const POLL_MS = 20;
const CHECK_TIMEOUT_MS = 120_000;

/** Brings named to serve the goal; answers the problem that stopped it, after the last good files are back. */
export async function activateNamed(ports: NamedPorts, goal: NamedGoal): Promise<Problem | null> {
  if (goal.conf === null) return null;
  await ports.files.ensureDirectory(ports.paths.zones);
  await ensureRndcKey(ports.files, ports.paths.key);
  const changed = await changedZones(ports, goal);
  const confChanged = (await ports.digests.of(ports.paths.conf)) !== sha256(goal.conf);
  // With the right files on disk nothing is written: named comes back even on a full disk.
  if (changed.length === 0 && !confChanged) return load(ports, goal, { changed, confChanged });
  const refused = await validate(ports, goal.conf, changed);
  if (refused !== null) return refused;
  const previous = await replaceAll(ports, goal.conf, changed);
  const problem = await load(ports, goal, { changed, confChanged });
  if (problem === null) {
    await removeStrayZones(ports, goal);
    return null;
  }
  await restore(ports, previous);
  return problem;
}

async function changedZones(ports: NamedPorts, goal: NamedGoal): Promise<NamedZoneFile[]> {
  const digests = await Promise.all(goal.zones.map(({ file }) => ports.digests.of(join(ports.paths.zones, file))));
  return goal.zones.filter(({ digest }, i) => digest !== digests[i]);
}

/** named's own checkers, after our review; the files that are served are untouched. */
async function validate(ports: NamedPorts, conf: string, zones: readonly NamedZoneFile[]): Promise<Problem | null> {
  for (const { origin, file, text } of zones) {
    const candidate = join(ports.paths.zones, `${file}.candidate`);
    await ports.files.replace(candidate, text());
    const { status, stdout, stderr } = await ports.commands.run(["named-checkzone", "-q", origin, candidate], {
      timeoutMs: CHECK_TIMEOUT_MS,
    });
    await ports.files.remove(candidate);
    if (status !== 0)
      return {
        code: "zone-check-failed",
        at: `zone ${origin}`,
        message: `named-checkzone refuses it: ${lastWords(stdout + stderr)}`,
        remedy: "the zone that is served is untouched",
      };
  }
  const candidate = `${ports.paths.conf}.candidate`;
  await ports.files.replace(candidate, conf, 0o640);
  const { status, stdout, stderr } = await ports.commands.run(["named-checkconf", candidate], { timeoutMs: CHECK_TIMEOUT_MS });
  await ports.files.remove(candidate);
  return status === 0
    ? null
    : {
        code: "named-check-failed",
        at: ports.paths.conf,
        message: `named-checkconf refuses it: ${lastWords(stdout + stderr)}`,
        remedy: "the file that runs is untouched",
      };
}

async function replaceAll(
  ports: NamedPorts,
  conf: string,
  zones: readonly NamedZoneFile[],
): Promise<Map<string, Uint8Array | null>> {
  const wanted = [
    ...zones.map(({ file, text }) => [join(ports.paths.zones, file), text] as const),
    [ports.paths.conf, () => conf] as const,
  ];
  const previous = new Map<string, Uint8Array | null>();
  for (const [path, text] of wanted) {
    previous.set(path, await ports.files.read(path));
    await ports.files.replace(path, text());
  }
  return previous;
}

async function load(
  ports: NamedPorts,
  goal: NamedGoal,
  what: { changed: readonly NamedZoneFile[]; confChanged: boolean },
): Promise<Problem | null> {
  const instance = await startOrReload(ports, goal, what);
  if ("code" in instance) return instance;
  const unserved = await waitUntilServed(ports, goal);
  if (unserved !== null) return unserved;
  const served = { pid: instance.pid, startTicks: instance.startTicks, digest: goalDigest(goal) ?? "" };
  ports.served.last = served;
  await ports.files.replace(ports.paths.running, JSON.stringify(served), 0o600);
  ports.log.info({ pid: instance.pid, zones: goal.zones.length, digest: served.digest.slice(0, 12) }, "named serves");
  return null;
}

/** A running named is told what changed; one that does not take orders (another key, a hung control channel) is started anew. */
async function startOrReload(
  ports: NamedPorts,
  goal: NamedGoal,
  what: { changed: readonly NamedZoneFile[]; confChanged: boolean },
): Promise<ServiceInstance | Problem> {
  const found = await ports.driver.find(NAMED_SERVICE);
  if (found === null) return start(ports, goal);
  const problem = await reload(ports, goal, what);
  if (problem === null) return found;
  ports.log.warn({ problem }, "named is started anew");
  await ports.driver.stop(NAMED_SERVICE);
  return start(ports, goal);
}

async function start(ports: NamedPorts, goal: NamedGoal): Promise<ServiceInstance | Problem> {
  const { paths } = ports;
  for (const address of goal.listen) {
    for (const protocol of ["udp", "tcp"] as const) {
      const occupied = await checkPortFree(ports.commands, { address, port: paths.port, protocol });
      if (occupied !== null) return occupied;
    }
  }
  const offset = await logOffset(paths.log);
  const argv = [paths.program, "-g", "-c", paths.conf] as const;
  const instance = await ports.driver.start({ name: NAMED_SERVICE, argv, logFile: paths.log }, goalDigest(goal) ?? "");
  const deadline = ports.clock.monotonic() + READY_DEADLINE_MS;
  while (!READY.test(await readLogSince(paths.log, offset))) {
    if ((await ports.driver.find(NAMED_SERVICE)) === null) {
      return {
        code: "named-did-not-start",
        at: paths.conf,
        message: `named ended at start: ${lastWords(await readLogSince(paths.log, offset))}`,
        remedy: `see ${paths.log}`,
      };
    }
    if (ports.clock.monotonic() > deadline)
      return { code: "named-not-ready", at: paths.conf, message: "named did not start in time", remedy: `see ${paths.log}` };
    await ports.clock.sleep(POLL_MS);
  }
  return instance;
}

/** New and removed zones come with `reconfig`; a zone that named knows already is read again only by name. */
async function reload(
  ports: NamedPorts,
  goal: NamedGoal,
  what: { changed: readonly NamedZoneFile[]; confChanged: boolean },
): Promise<Problem | null> {
  const serials = await Promise.all(goal.zones.map((zone) => servedSerial(ports, goal, zone)));
  const stale = goal.zones.filter(
    (zone, i) => serials[i] !== null && (serials[i] !== zone.serial || what.changed.includes(zone)),
  );
  if (what.confChanged || serials.includes(null)) {
    const problem = await rndc(ports, ["reconfig"]);
    if (problem !== null) return problem;
  }
  for (const { origin } of stale) {
    const problem = await rndc(ports, ["reload", origin]);
    if (problem !== null) return problem;
  }
  return null;
}

async function rndc(ports: NamedPorts, args: readonly string[]): Promise<Problem | null> {
  const { status, stdout, stderr } = await ports.commands.run(
    ["rndc", "-s", "127.0.0.1", "-p", String(ports.paths.controlPort), "-k", ports.paths.key, ...args],
    { timeoutMs: CHECK_TIMEOUT_MS },
  );
  return status === 0
    ? null
    : {
        code: "rndc-failed",
        at: `rndc ${args.join(" ")}`,
        message: lastWords(stdout + stderr) || `rndc exited with ${status ?? "a signal"}`,
        remedy: `see ${ports.paths.log}`,
      };
}

function servedSerial(ports: NamedPorts, goal: NamedGoal, zone: NamedZoneFile): Promise<number | null> {
  const [address] = goal.listen;
  return address === undefined
    ? Promise.resolve(zone.serial)
    : askSerial({ address, port: ports.paths.port }, zone.origin, ports.queryId());
}

/** `rndc reload` says yes to everything: only the serial that is served tells. */
async function waitUntilServed(ports: NamedPorts, goal: NamedGoal): Promise<Problem | null> {
  const deadline = ports.clock.monotonic() + SERVED_DEADLINE_MS;
  for (const zone of goal.zones) {
    for (;;) {
      const served = await servedSerial(ports, goal, zone);
      if (served === zone.serial) break;
      if (ports.clock.monotonic() > deadline) {
        const words = lastWords(await readLogSince(ports.paths.log, 0));
        return {
          code: "zone-not-served",
          at: `zone ${zone.origin}`,
          message: `named serves serial ${served ?? "none"} instead of ${zone.serial}: ${words}`,
          remedy: `see ${ports.paths.log}`,
        };
      }
      await ports.clock.sleep(POLL_MS);
    }
  }
  return null;
}

async function restore(ports: NamedPorts, previous: ReadonlyMap<string, Uint8Array | null>): Promise<void> {
  for (const [path, content] of previous) {
    if (content === null) await ports.files.remove(path);
    else await ports.files.replace(path, content);
  }
  if ((await ports.driver.find(NAMED_SERVICE)) !== null && previous.get(ports.paths.conf) !== null) {
    await rndc(ports, ["reconfig"]);
    await rndc(ports, ["reload"]);
  }
}

/** Zones that are gone leave no file behind that a later reader might take for served. */
async function removeStrayZones(ports: NamedPorts, goal: NamedGoal): Promise<void> {
  const wanted = new Set(goal.zones.map(({ file }) => file));
  const entries = await readdir(ports.paths.zones).catch((cause: unknown) => {
    throw new EnvironmentError("directory-unreadable", ports.paths.zones, "failed to list the zones", { cause });
  });
  for (const entry of entries)
    if (entry.endsWith(".zone") && !wanted.has(entry)) await ports.files.remove(join(ports.paths.zones, entry));
}
