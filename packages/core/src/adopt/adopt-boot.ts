import { addressFamily, parseIpAddress } from "../address/ip.js";
import { BOOT_FILE_MAX, bootSettingsSchema, RACK_PLACE, type BootSettings, type DhcpSettings } from "../desired/dhcp-settings.js";
import type { BootClient } from "./boot-clients.js";
import type { BootEffects } from "./boot-effects.js";
import type { ConfNode } from "./conf-tree.js";
import type { Findings } from "./findings.js";
import { settingValues } from "./settings.js";

type Kind = Exclude<keyof BootSettings, "nextServer">;

/** The machine that stands for each kind of file that Berth knows. */
const KINDS: Readonly<Record<string, Kind>> = {
  BIOS: "bios",
  "UEFI x64 (7)": "uefiX64",
  "UEFI arm64": "uefiArm64",
  "UEFI HTTP x64": "httpX64",
  "UEFI HTTP arm64": "httpArm64",
  "iPXE on BIOS": "ipxe",
  ONIE: "onie",
};

/**
 * The boot settings under which Berth gives each kind of machine what the file gave it. Kinds to which Berth gives something else are findings, at the
 * statement that they lose. A machine that is told no server asks the one that answered (RFC 2131 §2), which is what Berth tells it without `nextServer`.
 */
export function adoptBoot(effects: BootEffects, findings: Findings): Pick<DhcpSettings, "boot" | "snippet"> {
  const nextServer = serverOf(effects, findings);
  const server = nextServer === null ? {} : { nextServer };
  const single = singleFile(effects);
  if (single !== null && QUOTABLE.test(single))
    return {
      ...(nextServer === null ? {} : { boot: server }),
      // To everybody, whatever they are: Berth's settings tell kinds apart.
      snippet: `filename "${single}";\n`,
    };
  const boot: Record<string, string> = { ...server };
  for (const [client, { file, installer }] of effects) {
    const kind = KINDS[client.kind];
    const text = kind === undefined ? "" : textOf(kind === "onie" ? installer : file);
    if (kind !== undefined && text !== "" && bootSettingsSchema.shape[kind].safeParse(text).success) boot[kind] = text;
  }
  if (isIpxeByArchitecture(effects)) delete boot.ipxe;
  const settings = bootSettingsSchema.parse(boot);
  compare(effects, settings, findings);
  return Object.keys(settings).length === 0 ? {} : { boot: settings };
}

const QUOTABLE = new RegExp(`^[\\x21\\x23-\\x5b\\x5d-\\x7e]{1,${BOOT_FILE_MAX}}$`);

function textOf(node: ConfNode | null): string {
  return node === null ? "" : (settingValues(node)[0] ?? "");
}

const IPXE = "iPXE on ";

/** A file that does not tell iPXE from the firmware under it gives both the same. */
function isIpxeByArchitecture(effects: BootEffects): boolean {
  const files = new Map([...effects].map(([{ kind }, { file }]) => [kind, textOf(file)]));
  return [...files].every(([kind, file]) => !kind.startsWith(IPXE) || files.get(kind.slice(IPXE.length)) === file);
}

/** The file that every kind gets, or null. */
function singleFile(effects: BootEffects): string | null {
  const files = new Set([...effects.values()].map(({ file }) => textOf(file)));
  const [file] = files;
  return files.size === 1 &&
    file !== undefined &&
    file !== "" &&
    [...effects.values()].every(({ installer }) => installer === null)
    ? file
    : null;
}

/** One for all machines that load something. */
function serverOf(effects: BootEffects, findings: Findings): NonNullable<BootSettings["nextServer"]> | null {
  const servers = new Map<string, ConfNode>();
  for (const { file, installer, server } of effects.values())
    if (server !== null && (file !== null || installer !== null || [...effects.values()].every((one) => one.file === null)))
      servers.set(textOf(server), server);
  const [first, ...others] = servers;
  for (const [, node] of others) findings.add(node, "Berth knows one boot server for a subnet");
  if (first === undefined) return null;
  const [text, node] = first;
  const address = parseIpAddress(text);
  if (address !== null && addressFamily(address) === 4) return address;
  findings.add(node, "not an IPv4 address, so machines ask the rack");
  return null;
}

/** What Berth tells this machine, as `render-boot` decides it. */
function fileFromBerth({ kind }: BootClient, boot: BootSettings): string {
  const { bios = "", httpArm64 = "", httpX64 = "", ipxe, uefiArm64 = "", uefiX64 = "" } = boot;
  const by: Readonly<Record<string, string>> = {
    BIOS: bios,
    "PXE without an architecture": bios,
    "UEFI x64 (7)": uefiX64,
    "UEFI x64 (9)": uefiX64,
    "UEFI arm64": uefiArm64,
    "UEFI HTTP x64": httpX64,
    "UEFI HTTP arm64": httpArm64,
    "iPXE on BIOS": ipxe ?? bios,
    "iPXE on UEFI x64 (7)": ipxe ?? uefiX64,
    "iPXE on UEFI x64 (9)": ipxe ?? uefiX64,
    "iPXE on UEFI arm64": ipxe ?? uefiArm64,
  };
  return by[kind] ?? "";
}

function compare(effects: BootEffects, boot: BootSettings, findings: Findings): void {
  const lost = new Map<ConfNode, Map<string, string[]>>();
  const note = (node: ConfNode, instead: string, kind: string): void => {
    const kinds = lost.get(node) ?? new Map<string, string[]>();
    kinds.set(instead, [...(kinds.get(instead) ?? []), kind]);
    lost.set(node, kinds);
  };
  for (const [client, { file, installer }] of effects) {
    const instead = fileFromBerth(client, boot);
    if (file !== null && textOf(file) !== instead) note(file, instead, client.kind);
    if (file === null && instead !== "") noteNew(effects, { client, instead }, note);
    if (installer !== null && (client.kind !== "ONIE" || textOf(installer) !== boot.onie)) note(installer, "", client.kind);
  }
  for (const [node, kinds] of lost)
    for (const [instead, names] of kinds)
      findings.add(node, `for ${names.join(", ")} Berth has ${instead === "" ? "nothing" : `'${instead}'`} instead`);
}

/** A machine that the file gives nothing gets one of Berth's kinds: told at the statement whose file that is. */
function noteNew(
  effects: BootEffects,
  { client, instead }: { readonly client: BootClient; readonly instead: string },
  note: (node: ConfNode, instead: string, kind: string) => void,
): void {
  const source = [...effects.values()].find(({ file }) => file !== null && textOf(file) === instead)?.file;
  if (source !== null && source !== undefined) note(source, instead, client.kind);
}

/** Where machines have two networks to reach the rack by, each is told the address there: the one that stands for the rack becomes its place. */
export function withRackPlace(boot: BootSettings, rack: string): BootSettings {
  const { nextServer, ...files } = boot;
  const placed = Object.entries(files).map(([kind, file]) => [kind, file.replaceAll(rack, RACK_PLACE)]);
  return bootSettingsSchema.parse({
    ...(nextServer === undefined || nextServer === rack ? {} : { nextServer }),
    ...Object.fromEntries(placed),
  });
}

/** Whether two subnets make the same of every machine, each naming its own address of the rack. */
export function isSameBoot(a: BootEffects, b: BootEffects, racks: { readonly a: string; readonly b: string }): boolean {
  return [...a].every(([client, effect]) => {
    const other = b.get(client);
    const same = (name: "file" | "server" | "installer"): boolean =>
      textOf(effect[name]).replaceAll(racks.a, RACK_PLACE) === textOf(other?.[name] ?? null).replaceAll(racks.b, RACK_PLACE);
    return same("file") && same("server") && same("installer");
  });
}
