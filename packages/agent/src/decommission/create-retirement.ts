import { createBell, type Bell, type Clock, type Files, type Log } from "@berth/host";
import type { AgentPaths } from "../agent-paths.js";
import type { Attachment } from "../attachment.js";
import type { WireProber } from "../observe/wire/wire-prober.js";
import { createOmapiClient } from "../omapi/omapi-client.js";
import { ensureOmapiKey } from "../omapi/omapi-key.js";
import { createLeaseRetirer, type LeaseRetirer } from "./lease-retirer.js";

export interface Retirement {
  readonly retirer: LeaseRetirer;
  /** Wakes it: there is a new desired state. */
  readonly bell: Bell;
}

export interface RetirementParts {
  readonly paths: Pick<AgentPaths, "omapi">;
  readonly attach: Attachment;
  readonly prober: WireProber;
  readonly ports: { readonly files: Files; readonly clock: Clock; readonly log: Log };
}

/** Null where OMAPI is off: what a released machine still leases is waited out. The key is there before dhcpd first starts with it. */
export async function createRetirement({ paths, attach, prober, ports }: RetirementParts): Promise<Retirement | null> {
  const { clock, files, log } = ports;
  if (paths.omapi === null) return null;
  const secret = await ensureOmapiKey(files, paths.omapi.keyFile);
  const omapi = createOmapiClient({ port: paths.omapi.port, secret }, clock);
  const view = { desired: () => attach.desired(), links: () => attach.now()?.local ?? null };
  const retirer = createLeaseRetirer({ clock, log, omapi, prober, ...view });
  return { retirer, bell: createBell(clock) };
}
