import { join } from "node:path";
import { z } from "zod";
import type { Commands } from "../commands.js";
import { EnvironmentError } from "../errors.js";
import type { Files } from "../files.js";
import { parseJsonOrNull } from "../parse-json.js";
import { processState } from "./process-state.js";
import type { ServiceDriver, ServiceInstance, ServiceSpec } from "./service-driver.js";

export interface SystemdDriverPorts {
  readonly files: Files;
  readonly commands: Commands;
}

/** systemctl(1): waits for its job, which systemd itself bounds (TimeoutStartSec, TimeoutStopSec). */
const JOB_TIMEOUT_MS = 120_000;
const SHOW_TIMEOUT_MS = 10_000;
/** systemctl(1), exit status: there is no such unit. */
const NO_SUCH_UNIT = 5;

/**
 * Daemons as units `berth-NAME.service`. A unit names its program and its log; the arguments go through an environment file in the folder, which the
 * unit reads at every start. So the unit alone starts the daemon as it last ran, at boot or after it died, with no agent.
 *
 * Such a start is not one of ours: the file that the daemon read may have changed since. What it runs is only known of the invocation (systemd.exec(5),
 * INVOCATION_ID) that was noted after a start that we made; of any other the tag is empty.
 */
export function createSystemdDriver(folder: string, ports: SystemdDriverPorts): ServiceDriver {
  // While the one we know lives, a look costs one small read instead of a program.
  const known = new Map<string, ServiceInstance>();

  async function look(name: string): Promise<ServiceInstance | null> {
    const { pid, invocation } = await showUnit(ports.commands, unitOf(name));
    const state = pid === 0 ? null : await processState(pid);
    if (state === null) return null;
    const noted = await readNote(ports.files, notePath(folder, name));
    return { pid, startTicks: state.startTicks, tag: noted?.invocation === invocation ? noted.tag : "" };
  }

  return {
    async find(name) {
      const before = known.get(name);
      if (before !== undefined && (await processState(before.pid))?.startTicks === before.startTicks) return before;
      known.delete(name);
      const found = await look(name);
      if (found !== null) known.set(name, found);
      return found;
    },
    async start(spec, tag) {
      const { name } = spec;
      const text = environmentFile(spec);
      await ports.files.ensureDirectory(folder);
      await ports.files.replace(join(folder, `${name}.env`), text);
      await systemctl(ports.commands, "start", unitOf(name));
      const { invocation } = await showUnit(ports.commands, unitOf(name));
      await ports.files.replace(notePath(folder, name), JSON.stringify({ invocation, tag }));
      const started = (await look(name)) ?? { pid: 0, startTicks: 0, tag };
      known.set(name, started);
      return started;
    },
    async stop(name) {
      known.delete(name);
      await systemctl(ports.commands, "stop", unitOf(name));
    },
  };
}

function unitOf(name: string): string {
  return `berth-${name}.service`;
}

function notePath(folder: string, name: string): string {
  return join(folder, `${name}.json`);
}

/** Words that systemd neither splits, quotes nor expands (systemd.exec(5), EnvironmentFile=; systemd.service(5), command lines). */
const PLAIN = /^[A-Za-z0-9_./:@+,=-]+$/;

/** The arguments without the program, which the unit names. */
function environmentFile({ name, argv }: ServiceSpec): string {
  const args = argv.slice(1);
  const odd = args.find((word) => !PLAIN.test(word));
  if (odd === undefined) return `BERTH_ARGS=${args.join(" ")}\n`;
  throw new EnvironmentError("argument-not-plain", name, `'${odd}' cannot be handed to a unit`, {
    remedy: "use paths of letters, digits and ./:@+,=-_",
  });
}

async function systemctl(commands: Commands, verb: "start" | "stop", unit: string): Promise<void> {
  const { status, signal, stderr } = await commands.run(["systemctl", verb, unit], { timeoutMs: JOB_TIMEOUT_MS });
  if (status === 0 || (verb === "stop" && status === NO_SUCH_UNIT)) return;
  const isMissing = status === NO_SUCH_UNIT || /not found/i.test(stderr);
  const remedy = isMissing ? `install ${unit} and run systemctl daemon-reload` : `see systemctl status ${unit}`;
  const code = isMissing ? "unit-not-found" : "unit-job-failed";
  const words = stderr.trim().slice(0, 600) || `exit ${status ?? signal ?? "unknown"}`;
  throw new EnvironmentError(code, unit, `systemctl ${verb} failed: ${words}`, { remedy });
}

interface ShownUnit {
  /** 0 when nothing runs. */
  readonly pid: number;
  readonly invocation: string;
}

/** A unit that is not there shows as inactive, with status 0. */
async function showUnit(commands: Commands, unit: string): Promise<ShownUnit> {
  const argv = ["systemctl", "show", "--property=MainPID,InvocationID", unit] as const;
  const { status, stdout, stderr } = await commands.run(argv, { timeoutMs: SHOW_TIMEOUT_MS });
  if (status !== 0) {
    const remedy = "is systemd the init of this host? Otherwise set `driver: supervised`";
    throw new EnvironmentError("systemd-unreachable", unit, `systemctl show failed: ${stderr.trim().slice(0, 600)}`, { remedy });
  }
  const properties = new Map(
    stdout.split("\n").map((line): [string, string] => [line.split("=")[0] ?? "", line.slice(line.indexOf("=") + 1)]),
  );
  return { pid: Number(properties.get("MainPID") ?? 0), invocation: properties.get("InvocationID") ?? "" };
}

const noteSchema = z.object({ invocation: z.string().min(1), tag: z.string() });
const NOTE_MAX = 64 * 1024;

/** What was noted after our last start; damaged counts as none. */
async function readNote(files: Files, path: string): Promise<z.infer<typeof noteSchema> | null> {
  const content = await files.read(path, NOTE_MAX);
  const parsed = noteSchema.safeParse(content === null ? null : parseJsonOrNull(Buffer.from(content).toString("utf8")));
  return parsed.success ? parsed.data : null;
}
