import { join } from "node:path";
import type { IpAddress } from "@berth/core";
import { EnvironmentError, type Commands, type Files, type Log, parseJsonOrNull } from "@berth/host";
import { z } from "zod";

/** An address of the enlistment pool that the rack itself has on a link, so that machines there can reach it. */
export interface EnlistmentAddress {
  readonly link: string;
  readonly address: IpAddress;
  readonly prefixLength: number;
}

const recordSchema = z.array(z.object({ link: z.string(), address: z.string(), prefixLength: z.number() }));
type LinkRecord = z.infer<typeof recordSchema>;

export interface EnlistmentLinks {
  /**
   * Puts these addresses on their links, where they are not there (any more), and takes away those that we once put there and nobody wants. With nothing
   * to do it costs nothing, so it may be called at every look.
   */
  ensure(wanted: readonly EnlistmentAddress[]): Promise<void>;
}

export interface EnlistmentPorts {
  readonly files: Files;
  readonly commands: Commands;
  readonly log: Log;
  readonly stateDir: string;
  /** Is it on the link, as last seen? */
  isPresent(address: EnlistmentAddress): boolean;
}

/**
 * Only addresses that our own record names are ever taken away. The record is written before an address is added: one that was added
 * and not recorded would stay for ever.
 */
export function createEnlistmentLinks(ports: EnlistmentPorts): EnlistmentLinks {
  const path = join(ports.stateDir, "enlistment-addresses.json");
  let recorded: LinkRecord | null = null;
  const record = async (addresses: LinkRecord): Promise<void> => {
    await ports.files.replace(path, JSON.stringify(addresses));
    recorded = addresses;
  };
  return {
    async ensure(wanted) {
      recorded ??= await readRecord(ports, path);
      const before = recorded;
      const unwanted = before.filter((old) => !wanted.some((address) => sameAddress(address, old)));
      const added = wanted.filter((address) => !before.some((old) => sameAddress(address, old)));
      if (added.length > 0) await record([...before, ...added]);
      for (const address of wanted)
        if (added.includes(address) || !ports.isPresent(address)) await addAddress(ports.commands, address);
      for (const address of unwanted) await removeAddress(ports.commands, address);
      if (unwanted.length > 0) await record([...wanted]);
    },
  };
}

function sameAddress(a: LinkRecord[number], b: LinkRecord[number]): boolean {
  return a.link === b.link && a.address === b.address && a.prefixLength === b.prefixLength;
}

/** A record that is not one (a torn disk, a foreign hand) counts as none: what is wanted is put right, what it named is left where it is. */
async function readRecord({ files, log }: EnlistmentPorts, path: string): Promise<LinkRecord> {
  const content = await files.read(path, 1024 * 1024);
  if (content === null) return [];
  const parsed = recordSchema.safeParse(parseJsonOrNull(Buffer.from(content).toString("utf8")));
  if (parsed.success) return parsed.data;
  log.error({ path }, "the record of enlistment addresses is damaged; addresses that it named stay on their links");
  return [];
}

async function addAddress(commands: Commands, { link, address, prefixLength }: EnlistmentAddress): Promise<void> {
  const args = ["addr", "replace", `${address}/${prefixLength}`, "dev", link];
  const { status, stderr } = await commands.run(["ip", ...args], { timeoutMs: 5_000 });
  if (status === 0) return;
  throw new EnvironmentError(
    "address-not-set",
    `${address} on ${link}`,
    stderr.trim() || `ip exited with ${status ?? "a signal"}`,
  );
}

/** Gone already, or its interface gone with it, is what was wanted. */
async function removeAddress(commands: Commands, { link, address, prefixLength }: LinkRecord[number]): Promise<void> {
  const { status, stderr } = await commands.run(["ip", "addr", "del", `${address}/${prefixLength}`, "dev", link], {
    timeoutMs: 5_000,
  });
  if (status === 0 || /Cannot assign requested address|Cannot find device|not found/i.test(stderr)) return;
  throw new EnvironmentError("address-not-removed", `${address} on ${link}`, stderr.trim());
}
