import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import type { Host } from "../host.js";
import { requireTools } from "../require-tools.js";
import type { Running } from "../running.js";

/** A lease as Kea tells it over its control socket. */
export interface KeaLease {
  readonly "ip-address": string;
  readonly "hw-address": string;
  /** 0 default, 1 declined, 2 expired and reclaimed, 3 released. */
  readonly state: number;
  readonly cltt: number;
  readonly "valid-lft": number;
  readonly hostname: string;
}

/** A real kea-dhcp4 that keeps its leases in a file and cleans it up every few seconds. */
export class KeaServer {
  readonly leasesFile: string;
  readonly #host: Host;
  readonly #socket: string;
  readonly #conf: string;
  #running: Running | null = null;

  constructor(host: Host, options: { readonly subnet: string; readonly pool: string; readonly cleanupSeconds: number }) {
    requireTools(["kea-dhcp4"]);
    this.#host = host;
    mkdirSync(host.path("kea"));
    this.leasesFile = host.path("kea", "leases4.csv");
    this.#socket = host.path("kea.sock");
    this.#conf = host.path("kea.json");
    const config = {
      "interfaces-config": { interfaces: ["eth0"] },
      "control-socket": { "socket-type": "unix", "socket-name": this.#socket },
      "lease-database": { type: "memfile", persist: true, name: this.leasesFile, "lfc-interval": options.cleanupSeconds },
      "hooks-libraries": [{ library: leaseCommands() }],
      "valid-lifetime": 600,
      "expired-leases-processing": { "reclaim-timer-wait-time": 1, "hold-reclaimed-time": 3600 },
      subnet4: [{ id: 1, subnet: options.subnet, pools: [{ pool: options.pool }] }],
      loggers: [{ name: "kea-dhcp4", severity: "INFO", output_options: [{ output: "stderr" }] }],
    };
    writeFileSync(this.#conf, JSON.stringify({ Dhcp4: config }));
  }

  async start(): Promise<void> {
    const env = { KEA_PIDFILE_DIR: this.#host.directory, KEA_LOCKFILE_DIR: "none" };
    const argv = [this.#host.unconfined("kea-dhcp4"), "-c", this.#conf] as const;
    this.#running = await this.#host.spawn(argv, { env, logFile: this.#host.path("kea.log") });
    await this.#running.waitForLine("DHCP4_STARTED");
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = null;
  }

  /** Kea's own view of all leases. */
  async leases(): Promise<readonly KeaLease[]> {
    const answer = await this.#ask("lease4-get-all");
    return (answer.arguments as { readonly leases?: readonly KeaLease[] } | undefined)?.leases ?? [];
  }

  #ask(command: string): Promise<{ readonly arguments?: unknown }> {
    return new Promise((resolve, reject) => {
      const socket = createConnection(this.#socket);
      let text = "";
      socket.setEncoding("utf8").on("data", (part: string) => (text += part));
      socket.on("error", reject);
      socket.on("end", () => resolve(JSON.parse(text) as { readonly arguments?: unknown }));
      socket.write(JSON.stringify({ command }));
    });
  }
}

function leaseCommands(): string {
  const root = "/usr/lib";
  for (const name of readdirSync(root)) {
    const path = join(root, name, "kea", "hooks", "libdhcp_lease_cmds.so");
    if (existsSync(path)) return path;
  }
  throw new Error(`no libdhcp_lease_cmds.so below ${root}: apt-get install -y --no-install-recommends kea-dhcp4-server`);
}
