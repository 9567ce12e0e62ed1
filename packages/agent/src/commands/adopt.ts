import { dirname, resolve } from "node:path";
import { adoptDhcpdConf, classify, parseIpAddress, type AdoptingHost, type AdoptPlan, type IpAddress } from "@berth/core";
import { EnvironmentError, failureText, type Commands, type Files } from "@berth/host";
import { InvalidArgumentError, Option, type Command } from "commander";
import { observeInterfaces } from "../observe/interfaces/observe-interfaces.js";
import { adoptText } from "./adopt-view.js";

/** What the command needs of the world. */
export interface AdoptPorts {
  readonly files: Pick<Files, "read">;
  readonly commands: Commands;
  stdout(text: string): void;
  stderr(text: string): void;
  /** 0 all of it has a counterpart, 1 findings, 3 environment. Called once. */
  exitWith(code: 0 | 1 | 3): void;
}

interface AdoptOptions {
  readonly output: "text" | "json";
  readonly json?: true;
  readonly address?: readonly IpAddress[];
}

const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** Of all files together. */
const BYTES_MAX = 128 * 1024 * 1024;
const FILES_MAX = 1024;

/** Adds `berth-agent adopt FILE`: what an existing dhcpd.conf comes to in Berth. Changes nothing; `berth import plan` takes what it prints. */
export function registerAdopt(program: Command, ports: AdoptPorts): void {
  program
    .command("adopt")
    .description(
      "read an existing dhcpd.conf or dhcpd6.conf and what it includes into a plan: subnets, windows, machines, and what has no counterpart",
    )
    .argument("<file>", "the configuration, for example /etc/dhcp/dhcpd.conf")
    .option(
      "--address <address>",
      "an address of the rack that the file is for, which tells its links from relayed networks; can be given again; without any, this host's",
      takeAddress,
    )
    .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json"]).default("text"))
    .option("--json", "short for -o json; `berth import plan` reads it")
    .action(async (file: string, options: AdoptOptions) => ports.exitWith(await runAdopt(file, options, ports)));
}

async function runAdopt(file: string, options: AdoptOptions, ports: AdoptPorts): Promise<0 | 1 | 3> {
  try {
    const plan = await readPlan(file, await adoptingHost(options, ports), ports.files);
    const isJson = options.json === true || options.output === "json";
    ports.stdout(isJson ? `${JSON.stringify(plan, null, 2)}\n` : adoptText(plan));
    return plan.withoutCounterpart.length + plan.unreadable.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    ports.stderr(failureText(error));
    return 3;
  }
}

function takeAddress(text: string, before: readonly IpAddress[] = []): readonly IpAddress[] {
  const address = parseIpAddress(text);
  if (address === null) throw new InvalidArgumentError("not an IP address");
  return [...before, address];
}

/** Virtual addresses move, so no relay may be told to forward to one. */
async function adoptingHost({ address }: AdoptOptions, { commands }: AdoptPorts): Promise<AdoptingHost> {
  if (address !== undefined) return { addresses: address };
  const { verdicts } = classify(await observeInterfaces(commands));
  return { addresses: verdicts.filter((verdict) => verdict.class === "real").map(({ observed }) => observed.address) };
}

/** The core asks for files by name and cannot wait, so it is asked again until it has all of them. */
async function readPlan(main: string, host: AdoptingHost, files: Pick<Files, "read">): Promise<AdoptPlan> {
  const content = await files.read(main, FILE_BYTES_MAX);
  if (content === null) throw new EnvironmentError("file-missing", main, `${main} does not exist`);
  const texts = new Map<string, string | null>([[main, decode(content)]]);
  let bytes = content.length;
  for (;;) {
    const wanted = new Set<string>();
    const plan = adoptDhcpdConf(
      main,
      (name) => {
        if (!texts.has(name)) wanted.add(name);
        return texts.get(name) ?? null;
      },
      host,
    );
    if (wanted.size === 0) return plan;
    for (const name of wanted) {
      const included = await readIncluded(resolve(dirname(main), name), files);
      bytes += included?.length ?? 0;
      if (texts.size >= FILES_MAX || bytes > BYTES_MAX)
        throw new EnvironmentError("configuration-too-large", main, `more than ${FILES_MAX} files or ${BYTES_MAX} octets`);
      texts.set(name, included === null ? null : decode(included));
    }
  }
}

/** One that cannot be read becomes a finding at the statement that includes it. */
async function readIncluded(path: string, files: Pick<Files, "read">): Promise<Uint8Array | null> {
  try {
    return await files.read(path, FILE_BYTES_MAX);
  } catch (error) {
    if (error instanceof EnvironmentError) return null;
    throw error;
  }
}

function decode(content: Uint8Array): string {
  return Buffer.from(content).toString("utf8");
}
