import { changedPart, refusalOf, type DhcpdFile, type Problem } from "@berth/core";
import { EnvironmentError, localFollowFiles, type CommandResult, type Commands, type Files } from "@berth/host";
import type { Candidate, DhcpServer } from "./dhcp-server.js";
import type { DhcpdKind } from "./dhcpd-server.js";

interface CheckPorts {
  readonly files: Files;
  readonly commands: Commands;
}

/** `dhcpd -t` takes half a second for 50,000 hosts. */
const CHECK_TIMEOUT_MS = 15_000;

/** The last file that dhcpd took, as a whole or by its changes since one that it took, and the program that took it. */
interface Taken {
  readonly file: DhcpdFile;
  readonly program: string;
}

/**
 * `dhcpd -t` of a candidate. Where only hosts came, went or changed since the last file that it took, it looks at a small file with the same head and the new ones
 * (see `changedPart`): 10,000 hosts take it 40 ms, these next to none. A refusal is always that of the whole file.
 */
export function createDhcpdCheck(kind: DhcpdKind, ports: CheckPorts): DhcpServer["validate"] {
  let taken: Taken | null = null;
  return async (candidate) => {
    const { file } = candidate.goal;
    const program = await programStamp(kind.paths.program);
    const note = (): null => {
      taken = file === undefined || program === null ? null : { file, program };
      return null;
    };
    const part = file === undefined || taken?.program !== program ? null : changedPart(taken.file, file);
    const partPath = `${candidate.path}.changed`;
    if (part !== null && (await takes(kind, ports, partPath, part))) return note();
    await ports.files.remove(partPath); // of an agent that was killed over it
    return (await checkWhole(kind, ports, candidate)) ?? note();
  };
}

async function takes(kind: DhcpdKind, ports: CheckPorts, path: string, content: Uint8Array): Promise<boolean> {
  await ports.files.write(path, content);
  const result = await check(kind, ports, path);
  await ports.files.remove(path);
  return result?.status === 0;
}

async function checkWhole(kind: DhcpdKind, ports: CheckPorts, { path, written }: Candidate): Promise<Problem | null> {
  const { config } = kind.paths;
  await written;
  const result = await check(kind, ports, path);
  if (result === null) {
    const message = `dhcpd -t did not end within ${CHECK_TIMEOUT_MS / 1000} s and was killed`;
    const remedy = "the file that runs is untouched; see what holds dhcpd -t up";
    return { code: "dhcpd-check-hangs", at: config, message, remedy };
  }
  const { status, signal, stderr } = result;
  if (status === 0) return null;
  const words = stderr.trim() === "" ? `exit ${status ?? signal ?? "unknown"}` : stderr;
  const text = Buffer.from((await ports.files.read(path)) ?? []).toString("utf8");
  return refusalOf(text, words, config);
}

/** Null when it did not end. */
async function check({ family, paths }: DhcpdKind, { commands }: CheckPorts, path: string): Promise<CommandResult | null> {
  try {
    // Not -q: with it dhcpd keeps even its reason to itself.
    return await commands.run([paths.program, `-${family}`, "-t", "-cf", path], { timeoutMs: CHECK_TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof EnvironmentError) || error.code !== "command-timeout") throw error;
    return null;
  }
}

/** Where programs without a path are looked for, as long as nobody says otherwise. */
const FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Tells one version of the program from another; null when it is not found, and then nothing is known of it. */
async function programStamp(program: string): Promise<string | null> {
  const paths = program.includes("/") ? [program] : FOLDERS.map((folder) => `${folder}/${program}`);
  for (const path of paths) {
    const stamp = await localFollowFiles.stamp(path);
    if (stamp !== null) return JSON.stringify([path, stamp]);
  }
  return null;
}
