import { addressFamily, type IpAddress } from "@berth/core";
import { splitEndpoint, type CoordinatorConfig } from "../config.js";

/** What agents are told to dial, HOST:PORT each: what is configured, else where the link listens. `own` are this host's addresses if that is everywhere. */
export function advertisedLink({ link }: Pick<CoordinatorConfig, "link">, own: readonly IpAddress[]): readonly string[] {
  if (link.advertise.length > 0) return link.advertise;
  if (!listensEverywhere({ link })) return [link.listen];
  const { port } = splitEndpoint(link.listen);
  return own.map((address) => (addressFamily(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`));
}

/** Whether the link listens on every address, so that only this host's own addresses say where it is. */
export function listensEverywhere({ link }: Pick<CoordinatorConfig, "link">): boolean {
  return link.advertise.length === 0 && ["0.0.0.0", "::"].includes(splitEndpoint(link.listen).host);
}
