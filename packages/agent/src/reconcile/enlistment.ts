import { join } from "node:path";
import type { IpAddress } from "@berth/core";
import { EnvironmentError, type Commands, type Files } from "@berth/host";
import { z } from "zod";

/** An address of the enlistment pool that the rack itself has on a link, so that machines there can reach it. */
export interface EnlistmentAddress {
  readonly link: string;
  readonly address: IpAddress;
  readonly prefixLength: number;
}

const recordSchema = z.array(z.object({ link: z.string(), address: z.string(), prefixLength: z.number() }));

export interface EnlistmentLinks {
  /** Puts these addresses on their links and takes away those that we once put there and nobody wants any more. */
  ensure(wanted: readonly EnlistmentAddress[]): Promise<void>;
}

/**
 * Only addresses that our own record names are ever taken away. The record is written before an address is added: one that was added
 * and not recorded would stay for ever.
 */
export function createEnlistmentLinks(ports: {
  readonly files: Files;
  readonly commands: Commands;
  readonly stateDir: string;
}): EnlistmentLinks {
  const path = join(ports.stateDir, "enlistment-addresses.json");
  return {
    async ensure(wanted) {
      const recorded = await readRecord(ports.files, path);
      const unwanted = recorded.filter((old) => !wanted.some((address) => sameAddress(address, old)));
      const added = wanted.filter((address) => !recorded.some((old) => sameAddress(address, old)));
      if (added.length > 0) await ports.files.replace(path, JSON.stringify([...recorded, ...added]));
      for (const { link, address, prefixLength } of wanted)
        await ip(ports.commands, ["addr", "replace", `${address}/${prefixLength}`, "dev", link]);
      for (const { link, address, prefixLength } of unwanted)
        await removeAddress(ports.commands, [link, `${address}/${prefixLength}`]);
      if (unwanted.length > 0) await ports.files.replace(path, JSON.stringify(wanted));
    },
  };
}

function sameAddress(
  a: { link: string; address: string; prefixLength: number },
  b: { link: string; address: string; prefixLength: number },
): boolean {
  return a.link === b.link && a.address === b.address && a.prefixLength === b.prefixLength;
}

async function readRecord(files: Files, path: string): Promise<z.infer<typeof recordSchema>> {
  const content = await files.read(path, 1024 * 1024);
  return content === null ? [] : recordSchema.parse(JSON.parse(Buffer.from(content).toString("utf8")));
}

async function ip(commands: Commands, args: readonly string[]): Promise<void> {
  const { status, stderr } = await commands.run(["ip", ...args], { timeoutMs: 5_000 });
  if (status !== 0)
    throw new EnvironmentError("address-not-set", `ip ${args.join(" ")}`, stderr.trim() || `ip exited with ${status}`);
}

/** Gone already, or its interface gone with it, is what was wanted. */
async function removeAddress(commands: Commands, [link, address]: readonly [string, string]): Promise<void> {
  const { status, stderr } = await commands.run(["ip", "addr", "del", address, "dev", link], { timeoutMs: 5_000 });
  if (status === 0 || /Cannot assign requested address|Cannot find device|not found/i.test(stderr)) return;
  throw new EnvironmentError("address-not-removed", `${address} on ${link}`, stderr.trim());
}
