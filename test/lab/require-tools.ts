import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Program to the Debian 12 package that brings it. */
const PACKAGES = {
  ip: "iproute2",
  dhcpd: "isc-dhcp-server",
  dhcrelay: "isc-dhcp-relay",
  dhclient: "isc-dhcp-client",
  arping: "iputils-arping",
  dhcpcd: "dhcpcd-base",
  udhcpc: "udhcpc",
  named: "bind9",
  rndc: "bind9",
  "named-checkconf": "bind9-utils",
  "named-checkzone": "bind9-utils",
  dig: "bind9-dnsutils",
  nsupdate: "bind9-dnsutils",
  keepalived: "keepalived",
  chronyd: "chrony",
  "kea-dhcp4": "kea-dhcp4-server",
  ping: "iputils-ping",
  gcc: "gcc libc6-dev",
  "systemd-nspawn": "systemd-container",
  faketime: "faketime",
  "dhcpd-pools": "dhcpd-pools",
  tcpdump: "tcpdump",
  openssl: "openssl",
} as const;

export type Tool = keyof typeof PACKAGES;

/** Where Debian keeps daemons; a plain user's PATH lacks them. */
const SYSTEM_DIRECTORIES = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"];

/** Fails, never skips, unless this is root on a machine with all these programs; names the packages that are missing. */
export function requireTools(tools: readonly Tool[], find: (name: string) => string | null = findTool): void {
  if (process.getuid?.() !== 0) {
    throw new Error("the lab makes network namespaces and runs daemons on low ports: run it as root (sudo)");
  }
  const missing = tools.filter((tool) => find(tool) === null);
  if (missing.length === 0) return;
  const packages = [...new Set(missing.flatMap((tool) => PACKAGES[tool].split(" ")))].sort();
  throw new Error(
    `not installed: ${missing.join(", ")}; on Debian: apt-get install -y --no-install-recommends ${packages.join(" ")}`,
  );
}

/** The full path of a program, or null. */
export function findTool(name: string): string | null {
  const directories = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM_DIRECTORIES].filter((d) => d !== "");
  for (const directory of directories) {
    const path = join(directory, name);
    if (isExecutable(path)) return path;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}
