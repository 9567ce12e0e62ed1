import { readFileSync } from "node:fs";
import type { Host } from "../host.js";
import { processesIn } from "../namespaces.js";

/** The kinds of VIP that keepalived leaves on a NIC, each once. */
export const KEEPALIVED_VIPS = {
  plain: "192.168.50.50",
  masked: "192.168.50.51",
  labelled: "192.168.50.52",
  ownMac: "192.168.50.53",
  ipv6: "2001:db8:50::50",
  ipv6Masked: "2001:db8:50::51",
} as const;

/** VRRP with three virtual routers: IPv4 on the NIC, IPv4 on a macvlan with VRRP's own hardware address, and IPv6. */
export function allKindsConfig(priority: number): string {
  const vips = KEEPALIVED_VIPS;
  return [
    router("nic", 50, { priority, addresses: [vips.plain, `${vips.masked}/24`, `${vips.labelled}/32 label eth0:vip`] }),
    router("vmac", 53, { priority, addresses: [vips.ownMac], more: "use_vmac\n  vmac_xmit_base" }),
    router("six", 56, { priority, addresses: [vips.ipv6, `${vips.ipv6Masked}/64`] }),
  ].join("\n");
}

function router(
  name: string,
  id: number,
  options: { readonly priority: number; readonly addresses: readonly string[]; readonly more?: string },
): string {
  return `vrrp_instance ${name} {
  state BACKUP
  interface eth0
  virtual_router_id ${id}
  priority ${options.priority}
  advert_int 1
  ${options.more ?? ""}
  virtual_ipaddress {
    ${options.addresses.join("\n    ")}
  }
}`;
}

/**
 * All keepalived processes of one host die at once: nothing takes the addresses away. They are stopped first, as a child whose parent dies ends in order
 * and takes them away.
 */
export function killKeepalived(host: Host): number {
  const pids = processesIn([host.namespace]).filter((pid) => readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("keepalived"));
  for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const pid of pids) process.kill(pid, signal);
  return pids.length;
}
