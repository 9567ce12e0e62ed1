import { createKeaReader, createLeaseReader, keaFilesBefore } from "@berth/core";
import { localFollowFiles, networkFollowFiles, type Clock, type Log } from "@berth/host";
import { createLeaseFollower } from "./lease-follower.js";
import type { LeaseFollower } from "./model.js";

/** Follows dhcpd's leases file on this host's file systems. */
export function followLeases(path: string, ports: { readonly clock: Clock; readonly log: Log }): LeaseFollower {
  const files = { local: localFollowFiles, network: networkFollowFiles };
  return createLeaseFollower({ path, clock: ports.clock, log: ports.log, ports: files, createReader: createLeaseReader });
}

/** Follows Kea's memfile lease file, with the files that its clean-up keeps beside it. The agent runs dhcpd only; this is for `berth-agent leases`. */
export function followKeaLeases(path: string, ports: { readonly clock: Clock; readonly log: Log }): LeaseFollower {
  const files = { local: localFollowFiles, network: networkFollowFiles };
  const kea = { createReader: createKeaReader, filesBefore: keaFilesBefore(path) };
  return createLeaseFollower({ path, clock: ports.clock, log: ports.log, ports: files, ...kea });
}
