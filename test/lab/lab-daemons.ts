import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import type { Host } from "./host.js";
import { requireTools } from "./require-tools.js";
import type { Running } from "./running.js";
import { waitUntil } from "./wait-until.js";

/** Starts a real dhcpd with this configuration on its interfaces and waits until it serves; for tests of the lab and of other people's dhcpd. */
export function startDhcpd(host: Host, config: string, interfaceName = "eth0", ...more: readonly string[]): Promise<Running> {
  return launchDhcpd(host, config, { interfaceName, more, family: "4" });
}

/** The same for DHCPv6, after the interface's addresses have passed duplicate address detection (1.5 s). */
export async function startDhcpd6(host: Host, config: string, interfaceName = "eth0"): Promise<Running> {
  await waitUntil(() => host.ip("-6", "address", "show", "dev", interfaceName), {
    describe: `the IPv6 addresses of ${interfaceName} are no longer tentative`,
    until: (text) => text.includes("scope link") && !text.includes("tentative"),
  });
  return launchDhcpd(host, config, { interfaceName, more: [], family: "6" });
}

async function launchDhcpd(
  host: Host,
  config: string,
  how: { readonly interfaceName: string; readonly more: readonly string[]; readonly family: "4" | "6" },
): Promise<Running> {
  requireTools(["dhcpd"]);
  const base = host.path(`dhcpd${how.family === "6" ? "6" : ""}-${how.interfaceName}`);
  writeFileSync(`${base}.conf`, config);
  writeFileSync(`${base}.leases`, "", { flag: "a" }); // it must exist
  const argv = [
    `-${how.family}`,
    "-d",
    "--no-pid",
    "-cf",
    `${base}.conf`,
    "-lf",
    `${base}.leases`,
    how.interfaceName,
    ...how.more,
  ] as const;
  const dhcpd = await host.spawn([host.unconfined("dhcpd"), ...argv], { logFile: `${base}.log` });
  await dhcpd.waitForLine("Server starting service");
  return dhcpd;
}

/** Starts a real named, primary for these zones (name to text of its file), on all addresses of the host. */
export async function startNamed(host: Host, zones: Readonly<Record<string, string>>): Promise<Running> {
  requireTools(["named"]);
  const directory = host.path("named");
  mkdirSync(directory, { recursive: true });
  chmodSync(directory, 0o777);
  const statements = Object.entries(zones).map(([zone, text]) => {
    const file = `${directory}/db.${zone}`;
    writeFileSync(file, text);
    return `zone "${zone}" { type primary; file "${file}"; };`;
  });
  const options = `directory "${directory}"; pid-file none; session-keyfile "${directory}/session.key"; recursion no; dnssec-validation no; listen-on-v6 { none; };`;
  const conf = `${directory}/named.conf`;
  writeFileSync(conf, [`options { ${options} };`, "controls { };", ...statements, ""].join("\n"));
  const named = await host.spawn([host.unconfined("named"), "-g", "-c", conf], { logFile: host.path("named.log") });
  await named.waitForLine(/ running$/);
  return named;
}

/** Starts a real keepalived with this configuration. SIGKILL of all its processes leaves its addresses in place. */
export async function startKeepalived(host: Host, config: string): Promise<Running> {
  requireTools(["keepalived"]);
  const conf = host.path("keepalived.conf");
  writeFileSync(conf, config);
  const pids = ["-p", host.path("keepalived.pid"), "-r", host.path("vrrp.pid"), "-c", host.path("checkers.pid")] as const;
  const argv = ["keepalived", "-n", "-l", "-D", "-f", conf, ...pids] as const;
  return host.spawn([...argv], { logFile: host.path("keepalived.log") });
}

/** A configuration with one virtual router whose addresses move to the host with the higher priority. */
export function keepalivedConfig(router: {
  readonly interfaceName: string;
  readonly priority: number;
  /** With prefix lengths, and labels if wanted: `192.168.50.28/32 label eth0:vip`. */
  readonly addresses: readonly string[];
  readonly virtualRouterId?: number;
}): string {
  const { interfaceName, priority, addresses, virtualRouterId = 50 } = router;
  const addressLines = addresses.map((address) => `    ${address}`).join("\n");
  return `vrrp_instance lab {
  state BACKUP
  interface ${interfaceName}
  virtual_router_id ${virtualRouterId}
  priority ${priority}
  advert_int 1
  virtual_ipaddress {
${addressLines}
  }
}
`;
}

/** Starts a real chronyd that serves time on every address of the host and never touches the machine's clock. */
export async function startChronyd(host: Host): Promise<Running> {
  requireTools(["chronyd"]);
  const conf = host.path("chrony.conf");
  writeFileSync(conf, `local stratum 8\nallow 0.0.0.0/0\ncmdport 0\nbindcmdaddress /\npidfile ${host.path("chronyd.pid")}\n`);
  const chronyd = await host.spawn([host.unconfined("chronyd"), "-x", "-d", "-u", "root", "-f", conf], {
    logFile: host.path("chronyd.log"),
  });
  await chronyd.waitForLine("chronyd version");
  return chronyd;
}

/** Whether a time server answers this host; asks with chronyd itself, once. */
export async function asksTime(host: Host, server: string): Promise<boolean> {
  const argv = [
    host.unconfined("chronyd"),
    "-Q",
    "-t",
    "3",
    "-u",
    "root",
    "-f",
    "/dev/null",
    `server ${server} iburst maxsamples 1`,
  ] as const;
  const { status } = await host.run([...argv], { timeoutMs: 15_000 });
  return status === 0;
}
