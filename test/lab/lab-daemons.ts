import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import type { Host } from "./host.js";
import { requireTools } from "./require-tools.js";
import type { Running } from "./running.js";

/** Starts a real dhcpd with this configuration on one interface and waits until it serves; for tests of the lab and of other people's dhcpd. */
export async function startDhcpd(host: Host, config: string, interfaceName = "eth0"): Promise<Running> {
  requireTools(["dhcpd"]);
  const [conf, leases] = [host.path(`dhcpd-${interfaceName}.conf`), host.path(`dhcpd-${interfaceName}.leases`)];
  writeFileSync(conf, config);
  writeFileSync(leases, "", { flag: "a" }); // it must exist
  const argv = ["-4", "-d", "--no-pid", "-cf", conf, "-lf", leases, interfaceName] as const;
  const dhcpd = await host.spawn([host.unconfined("dhcpd"), ...argv], { logFile: host.path(`dhcpd-${interfaceName}.log`) });
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
