import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import {
  accepted,
  desiredStateSchema,
  formatProblem,
  refused,
  renderRndcKey,
  type DesiredState,
  type Problem,
  type RackLinks,
  type Result,
  issueText,
} from "@berth/core";
import { describeError, EnvironmentError, type Commands, type Files } from "@berth/host";
import { InvalidArgumentError, Option, type Command } from "commander";
import { findLinks } from "./render-links.js";
import { renderRack, type RenderedRack } from "./rendered-rack.js";

/** What the command needs of the world. */
export interface RenderPorts {
  readonly commands: Commands;
  readonly files: Files;
  stdout(text: string): void;
  stderr(text: string): void;
  /** 0 ok, 1 findings, 2 usage, 3 environment. Called once. */
  exitWith(code: 0 | 1 | 2 | 3): void;
}

interface RenderOptions {
  readonly desired: string;
  readonly out: string;
  readonly addressFile?: string;
  readonly link: readonly string[];
  readonly port: number;
  readonly controlPort: number;
  readonly output: "text" | "json";
  readonly json?: true;
}

const DESIRED_MAX = 256 * 1024 * 1024;

/** Adds `berth-agent render`: the files that a rack would run for a desired state, and what the review finds in it. Starts nothing. */
export function registerRender(program: Command, ports: RenderPorts): void {
  program
    .command("render")
    .description("write dhcpd.conf, dhcpd6.conf, named.conf and the zones that a rack would run, and list what the review finds")
    .requiredOption("--desired <file>", "desired state: desired.json of a rack's state folder, or the plain JSON")
    .requiredOption("--out <dir>", "folder to write to; named.conf names this folder")
    .option("--address-file <file>", "where the subnets are attached, from this output of 'ip -j addr' instead of this host's")
    .option("--link <name=address>", "where a subnet is attached, in your words; repeat for more", collect, [])
    .option("--port <number>", "port of named", portNumber, 53)
    .option("--control-port <number>", "port of named's control channel", portNumber, 953)
    .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json"]).default("text"))
    .option("--json", "short for -o json")
    .action(async (options: RenderOptions) => ports.exitWith(await render(options, ports)));
}

async function render(options: RenderOptions, ports: RenderPorts): Promise<0 | 1 | 2 | 3> {
  try {
    const desired = await readDesired(options.desired, ports.files);
    if (!desired.ok) return report(options, ports, { files: [], interfaces: [], interfaces6: [], problems: desired.problems });
    const local = await findLinks(desired.value, options, ports);
    if (!local.ok) {
      for (const problem of local.problems) ports.stderr(`${formatProblem(problem)}\n`);
      return 2;
    }
    return report(options, ports, await renderInto(desired.value, local.value, { options, files: ports.files }));
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    const remedy = error.remedy === undefined ? "" : ` (${error.remedy})`;
    ports.stderr(`${describeError(error)}${remedy} [${error.code}]\n`);
    return 3;
  }
}

interface Outcome {
  /** Paths written. */
  readonly files: readonly string[];
  readonly interfaces: readonly string[];
  readonly interfaces6: readonly string[];
  readonly problems: readonly Problem[];
}

async function renderInto(
  desired: DesiredState,
  local: RackLinks,
  to: { readonly options: RenderOptions; readonly files: Files },
): Promise<Outcome> {
  const folder = resolve(to.options.out);
  const paths = { directory: folder, zones: join(folder, "zones"), key: join(folder, "rndc.key") };
  const rendered = renderRack(desired, local, { paths, port: to.options.port, controlPort: to.options.controlPort });
  const problems = [...rendered.refusals, ...rendered.warnings];
  // All or nothing: half a set of files beside an older half would be taken for one rack's.
  const files = rendered.refusals.length > 0 ? [] : await writeAll(rendered, paths, to.files);
  return { files, interfaces: rendered.dhcpdInterfaces, interfaces6: rendered.dhcpd6Interfaces, problems };
}

async function writeAll(
  rendered: RenderedRack,
  paths: { readonly directory: string; readonly zones: string; readonly key: string },
  files: Files,
): Promise<string[]> {
  await files.ensureDirectory(paths.zones);
  const written: string[] = [];
  const write = async (path: string, text: string | null, mode = 0o644): Promise<void> => {
    if (text === null) return;
    await files.replace(path, text, mode);
    written.push(path);
  };
  await write(join(paths.directory, "dhcpd.conf"), rendered.dhcpdConf);
  await write(join(paths.directory, "dhcpd6.conf"), rendered.dhcpd6Conf);
  await write(join(paths.directory, "named.conf"), rendered.namedConf);
  // named-checkconf wants the key that named.conf includes; a key of its own, not the rack's.
  if ((await files.read(paths.key, 4096)) === null)
    await write(paths.key, renderRndcKey(randomBytes(32).toString("base64")), 0o600);
  for (const { fileName, text } of rendered.zones) await write(join(paths.zones, fileName), text);
  return written;
}

function report(options: RenderOptions, ports: RenderPorts, { files, interfaces, interfaces6, problems }: Outcome): 0 | 1 {
  if (options.json === true || options.output === "json") {
    ports.stdout(`${JSON.stringify({ files, interfaces, interfaces6, problems }, null, 2)}\n`);
  } else {
    for (const file of files) ports.stdout(`${file}\n`);
    if (files.length > 0)
      ports.stdout(
        interfaces.length > 0 ? `dhcpd would listen on ${interfaces.join(", ")}\n` : "dhcpd would not run: nothing to serve\n",
      );
    if (interfaces6.length > 0) ports.stdout(`dhcpd -6 would listen on ${interfaces6.join(", ")}\n`);
    for (const problem of problems) ports.stderr(`${formatProblem(problem)}\n`);
  }
  return problems.length > 0 ? 1 : 0;
}

/** Plain, or in the checksummed envelope in which the agent keeps it. */
async function readDesired(path: string, files: Files): Promise<Result<DesiredState>> {
  const bytes = await files.read(path, DESIRED_MAX);
  if (bytes === null) throw new EnvironmentError("file-missing", path, `there is no file ${path}`);
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return refused({ code: "desired-malformed", at: path, message: `not JSON: ${cause.message}` });
  }
  const parsed = desiredStateSchema.safeParse(isEnvelope(document) ? document.state : document);
  if (parsed.success) return accepted(parsed.data);
  return refused(
    ...parsed.error.issues.map((issue) => ({
      code: "desired-invalid",
      at: `${path}:${issue.path.map(String).join(".")}`,
      message: issueText(issue),
    })),
  );
}

function isEnvelope(document: unknown): document is { readonly state: unknown } {
  return typeof document === "object" && document !== null && "digest" in document && "state" in document;
}

function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

function portNumber(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new InvalidArgumentError("a port is a number from 1 to 65535");
}
