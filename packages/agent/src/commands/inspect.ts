import {
  classify,
  explainByRoutes,
  formatProblem,
  onLinkNetworks,
  parseInterfaces,
  parseRoutes,
  type Classification,
  type HostInterface,
  type HostRoute,
  type Result,
} from "@berth/core";
import { describeError, EnvironmentError, type Commands, type Files } from "@berth/host";
import { Option, type Command } from "commander";
import { readAddressConfig, type AddressConfig } from "./inspect-config.js";
import { inspectionJson, inspectionText } from "./inspect-view.js";
import { observeInterfaces, observeRoutes } from "../observe/interfaces/observe-interfaces.js";

/** What the command needs of the world. */
export interface InspectPorts {
  readonly commands: Commands;
  readonly files: Files;
  stdout(text: string): void;
  stderr(text: string): void;
  /** 0 ok, 1 problems found, 2 usage, 3 environment. Called once. */
  exitWith(code: 0 | 1 | 2 | 3): void;
}

interface InspectOptions {
  readonly addressFile?: string;
  readonly routeFile?: string;
  readonly config?: string;
  readonly output: "text" | "json";
  readonly json?: true;
}

/** `ip addr` of a host with 10,000 addresses is 4 MiB. */
const FILE_MAX = 64 * 1024 * 1024;

/** Adds `berth-agent inspect`: which addresses of this host are its own and which are virtual, and why. */
export function registerInspect(program: Command, ports: InspectPorts): void {
  program
    .command("inspect")
    .description("show which addresses are this host's own and which are virtual, and why")
    .option("--address-file <file>", "judge this output of 'ip -json -details addr' or 'ip addr' instead of this host")
    .option("--route-file <file>", "the output of 'ip -json route' that belongs to it")
    .option("--config <file>", "YAML or JSON with addresses.real and addresses.vips")
    .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json"]).default("text"))
    .option("--json", "short for -o json")
    .action(async (options: InspectOptions) => ports.exitWith(await inspect(options, ports)));
}

async function inspect(options: InspectOptions, ports: InspectPorts): Promise<0 | 1 | 2 | 3> {
  try {
    const config = options.config === undefined ? null : await readConfig(options.config, ports);
    if (config?.ok === false) {
      for (const problem of config.problems) ports.stderr(`${formatProblem(problem)}\n`);
      return 2;
    }
    const { interfaces, routes } = await observe(options, ports);
    const known = config?.value ?? { real: [], vips: [] };
    const judged = classify(interfaces, {
      real: new Set(known.real),
      vips: new Set(known.vips),
      networks: onLinkNetworks(interfaces, routes),
    });
    const explained: Classification = { ...judged, verdicts: explainByRoutes(judged.verdicts, routes) };
    const json = options.json === true || options.output === "json";
    ports.stdout(json ? inspectionJson(interfaces, explained) : inspectionText(interfaces, explained));
    if (!json) for (const problem of explained.problems) ports.stderr(`${formatProblem(problem)}\n`);
    return explained.problems.length > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    const remedy = error.remedy === undefined ? "" : ` (${error.remedy})`;
    ports.stderr(`${describeError(error)}${remedy} [${error.code}]\n`);
    return 3;
  }
}

/** The routes of this host belong to this host's addresses only: with a file of addresses they come from a file or are not known. */
async function observe(
  options: InspectOptions,
  { commands, files }: InspectPorts,
): Promise<{ readonly interfaces: readonly HostInterface[]; readonly routes: readonly HostRoute[] }> {
  const interfaces =
    options.addressFile === undefined
      ? await observeInterfaces(commands)
      : understood(parseInterfaces(await readText(files, options.addressFile), options.addressFile), options.addressFile);
  if (options.routeFile !== undefined) {
    const routes = parseRoutes(await readText(files, options.routeFile), options.routeFile);
    return { interfaces, routes: understood(routes, options.routeFile) };
  }
  return { interfaces, routes: options.addressFile === undefined ? await observeRoutes(commands) : [] };
}

function understood<T>(result: Result<T>, file: string): T {
  if (result.ok) return result.value;
  const [problem] = result.problems;
  const remedy = problem?.remedy === undefined ? {} : { remedy: problem.remedy };
  throw new EnvironmentError(
    problem?.code ?? "file-unreadable",
    file,
    `${file}: ${problem?.message ?? "not understood"}`,
    remedy,
  );
}

async function readConfig(path: string, { files }: InspectPorts): Promise<Result<AddressConfig>> {
  return readAddressConfig(await readText(files, path), path);
}

async function readText(files: Files, path: string): Promise<string> {
  const bytes = await files.read(path, FILE_MAX);
  if (bytes === null) throw new EnvironmentError("file-missing", path, `there is no file ${path}`);
  return new TextDecoder().decode(bytes);
}
