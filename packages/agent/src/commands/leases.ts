import type { LeaseDiagnostic, LeaseReader } from "@berth/core";
import { EnvironmentError, failureText, localFollowFiles, type Clock } from "@berth/host";
import { Option, type Command } from "commander";
import { readLeases, readLeasesStream } from "../observe/leases/read-leases.js";
import { leasesJson, leasesText } from "./leases-view.js";

/** What the command needs of the world. */
export interface LeasesPorts {
  readonly clock: Pick<Clock, "now">;
  /** What is piped in; read at most once. */
  stdin(): AsyncIterable<Uint8Array>;
  stdout(text: string): void;
  stderr(text: string): void;
  /** 0 ok (whatever the file says), 2 usage, 3 environment. Called once. */
  exitWith(code: 0 | 2 | 3): void;
}

export interface LeasesOptions {
  readonly now?: string;
  readonly final?: true;
  readonly follow?: true;
  readonly output: "text" | "json";
  readonly json?: true;
}

const HELP = `
All times are UTC. A lease that is active and past its end is not in use; dhcpd writes that it ended only while it runs.
What cannot be used of the file is told on standard error, with its line; the rest counts. NAME CLAIMED is the client's own word.

  berth-agent leases /var/lib/dhcp/dhcpd.leases | grep -w yes       addresses in use
  zcat dhcpd.leases.1.gz | berth-agent leases - --json              all that is known, for scripts`;

/** Prints the table and then every change until the program is asked to end. */
export type FollowLeases = (options: { readonly file: string; readonly json: boolean }) => Promise<void>;

/** Adds `berth-agent leases FILE`: what a leases file of dhcpd or Kea says, as of now or another time, or as it goes on. */
export function registerLeases(program: Command, ports: LeasesPorts, follow: FollowLeases): Command {
  return program
    .command("leases")
    .description("print what a leases file of dhcpd or Kea says (IPv4 or IPv6, told by its content)")
    .argument("<file>", "the leases file, for example /var/lib/dhcp/dhcpd.leases; - for what is piped in")
    .option("--now <time>", "judge as of this time (ISO 8601) instead of the clock")
    .option("--final", "the file gets no more: accept an unclosed last block")
    .addOption(new Option("--follow", "go on and print every change, one a line, until interrupted").conflicts(["now", "final"]))
    .addOption(new Option("-o, --output <format>", "how to print").choices(["text", "json"]).default("text"))
    .option("--json", "short for -o json")
    .addHelpText("after", HELP)
    .action(async (file: string, options: LeasesOptions) => {
      if (file === "" || (file === PIPED && options.follow === true)) {
        ports.stderr(
          file === "" ? "error: the name of the leases file is empty\n" : "error: --follow needs a file, not a pipe\n",
        );
        ports.exitWith(2);
      } else if (options.follow !== true) ports.exitWith(await runLeases(file, options, ports));
      else {
        await follow({ file, json: isJson(options) });
        ports.exitWith(0);
      }
    });
}

const PIPED = "-";

/** Reads and prints; answers the exit status. */
export async function runLeases(file: string, options: LeasesOptions, ports: LeasesPorts): Promise<0 | 2 | 3> {
  const now = options.now === undefined ? ports.clock.now() : parseInstant(options.now);
  if (now === null) {
    ports.stderr(`--now ${JSON.stringify(options.now)} is no time with its zone; write it as 2026-11-30T12:00:00Z (UTC)\n`);
    return 2;
  }
  try {
    const final = options.final === true;
    const { reader, missing } =
      file === PIPED
        ? { reader: await readLeasesStream(ports.stdin(), final), missing: false }
        : await readLeases(file, final, localFollowFiles);
    const json = isJson(options);
    // A missing file is an empty one and says so: before dhcpd's first start there is none.
    const absent = { code: "file-missing", line: 0, message: `${file} does not exist: read as empty` };
    const diagnostics = missing ? [absent] : reader.diagnostics();
    for (const piece of json ? leasesJson(reader, diagnostics, now) : leasesText(reader, now)) ports.stdout(piece);
    if (!json) ports.stderr(notes(file, reader, diagnostics));
    return 0;
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    ports.stderr(failureText(error));
    return 3;
  }
}

/** What people are told beside the table. */
function notes(file: string, reader: LeaseReader, diagnostics: readonly LeaseDiagnostic[]): string {
  const { size, hosts, failover } = reader.table;
  const lines = diagnostics.map(({ code, line, message }) => `${line === 0 ? message : `${file}:${line}: ${message}`} [${code}]`);
  if (reader.pendingTail) lines.push(`${file}: the last declaration is not finished`);
  // Nothing at all would leave open whether anything was read.
  if (size + hosts.size + failover.size === 0 && reader.offset > 0) lines.push(`${file}: no lease in ${reader.offset} octets`);
  else if (reader.offset === 0 && diagnostics.length === 0) lines.push(`${file}: empty`);
  return lines.map((line) => `${line}\n`).join("");
}

function isJson(options: LeasesOptions): boolean {
  return options.json === true || options.output === "json";
}

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Milliseconds since 1970; null for what is no time. `Date.parse` takes 30 February for 2 March. */
function parseInstant(text: string): number | null {
  const [, year = "", month = "", day = ""] = INSTANT.exec(text) ?? [];
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  const instant = year === "" || Number(day) > days ? Number.NaN : Date.parse(text);
  return Number.isNaN(instant) ? null : instant;
}
