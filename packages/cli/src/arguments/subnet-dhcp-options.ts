import { InvalidArgumentError, type Command } from "commander";
import type { CliPorts } from "../cli-ports.js";
import { environmentFailure } from "../cli-failure.js";
import { readImportFile } from "../transfer/read-import.js";
import { parseCount } from "./parse-duration.js";
import { collectText } from "./parse-range.js";

/** The options that set a subnet's DHCP, as commander hands them on. */
export interface SubnetDhcpOptions {
  readonly router?: readonly string[];
  readonly search?: readonly string[];
  readonly mtu?: number | "none";
  readonly boot?: readonly BootOption[];
  readonly snippet?: string;
  readonly relayedTo?: readonly string[];
  readonly failover?: boolean;
  readonly dhcp?: string;
}

interface BootOption {
  readonly kind: string;
  readonly file: string;
}

/** Names for `--boot`, and what the API calls them. */
const BOOT_KINDS: Readonly<Record<string, string>> = {
  "next-server": "nextServer",
  bios: "bios",
  "uefi-x64": "uefiX64",
  "uefi-arm64": "uefiArm64",
  "http-x64": "httpX64",
  "http-arm64": "httpArm64",
  ipxe: "ipxe",
  onie: "onie",
};

export function withDhcpOptions(command: Command): Command {
  return command
    .option("--router <address>", "default routers instead of the gateway; may be repeated, none for no router", collectText)
    .option("--search <domain>", "search list instead of the subnet's domain; may be repeated, none for none", collectText)
    .option("--mtu <octets>", "MTU of the network", (text) => (text === "none" ? "none" : parseCount(text)))
    .option(
      "--boot <kind=file>",
      `what machines load, all kinds at once: ${Object.keys(BOOT_KINDS).join(", ")}; {rack} stands for the rack's address; may be repeated`,
      collectBoot,
    )
    .option("--snippet <file>", "statements of dhcpd.conf for the subnet's block; none to take them away")
    .option(
      "--relayed-to <address>",
      "the network is on no rack's link: its relays forward to this address of a rack",
      collectText,
    )
    .option("--failover", "the two racks of the network share the whole window (dhcpd's failover)")
    .option("--no-failover", "each rack has its own part of the window")
    .option("--dhcp <file>", "settings as JSON, for all that has no option here: see Subnet in the API's description");
}

/** The part `dhcp` of the request, or undefined when nothing of it was named. */
export async function subnetDhcpChange(
  options: SubnetDhcpOptions,
  ports: CliPorts,
): Promise<Record<string, unknown> | undefined> {
  const { boot, dhcp, failover, mtu, relayedTo, router, search, snippet } = options;
  const change = {
    ...(dhcp === undefined ? {} : await readSettings(ports, dhcp)),
    ...(router === undefined ? {} : { routers: listOrNothing(router) }),
    ...(search === undefined ? {} : { domainSearch: listOrNothing(search) }),
    ...(mtu === undefined ? {} : { mtu: mtu === "none" ? null : mtu }),
    ...(boot === undefined ? {} : { boot: bootSettings(boot) }),
    ...(snippet === undefined ? {} : { snippet: snippet === "none" ? null : (await readImportFile(ports, snippet)).text }),
    ...(relayedTo === undefined ? {} : { relay: isNone(relayedTo) ? null : { servers: relayedTo } }),
    ...(failover === undefined ? {} : { failover: failover ? {} : null }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}

function collectBoot(text: string, earlier: readonly BootOption[] | undefined): readonly BootOption[] {
  if (text === "none") return [];
  const equals = text.indexOf("=");
  const kind = BOOT_KINDS[text.slice(0, Math.max(0, equals))];
  const file = text.slice(equals + 1);
  if (kind === undefined || file === "")
    throw new InvalidArgumentError(`Write it as KIND=FILE with one of ${Object.keys(BOOT_KINDS).join(", ")}, or none.`);
  return [...(earlier ?? []), { kind, file }];
}

function bootSettings(boot: readonly BootOption[]): Record<string, string> | null {
  return boot.length === 0 ? null : Object.fromEntries(boot.map(({ kind, file }) => [kind, file]));
}

function isNone(list: readonly string[]): boolean {
  return list.length === 1 && list[0] === "none";
}

function listOrNothing(list: readonly string[]): readonly string[] {
  return isNone(list) ? [] : list;
}

async function readSettings(ports: CliPorts, path: string): Promise<Record<string, unknown>> {
  const { text } = await readImportFile(ports, path);
  try {
    const settings: unknown = JSON.parse(text);
    if (typeof settings === "object" && settings !== null && !Array.isArray(settings)) return settings as Record<string, unknown>;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  const message = "it holds no JSON object";
  throw environmentFailure({ code: "settings-malformed", at: path, message, remedy: 'write it as {"mtu": 9000}' });
}
