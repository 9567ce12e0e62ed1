import { compileDhcpd, renderDhcpd, type OmapiSettings } from "@berth/core";
import type { GoldenCase } from "../../golden-cases.js";
import type { Host } from "../host.js";
import { startDhcpd } from "../lab-daemons.js";
import type { Running } from "../running.js";

/** dhcpd pings a never-used address for a second before it offers it. */
export const PATIENT = { waitMs: 4_000, attempts: 3 };
/** For answers that must not come. */
export const ASKED_ONCE = { waitMs: 1_500, attempts: 1 };

/** Starts a real dhcpd on the file that a rack renders for a golden case. Its addresses must be on the host already. */
export async function serveGolden(
  rack: Host,
  golden: GoldenCase,
  interfaceNames: readonly [string, ...string[]] = ["eth0"],
  omapi: OmapiSettings | null = null,
): Promise<Running> {
  const config = compileDhcpd(golden.desired, golden.links);
  if (!config.ok) throw new Error(JSON.stringify(config.problems));
  return startDhcpd(rack, renderDhcpd(config.value, omapi), ...interfaceNames);
}
