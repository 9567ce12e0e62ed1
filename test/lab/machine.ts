import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { countEvents, DhcpClient } from "./dhcp-client.js";
import { Host } from "./host.js";
import { requireTools } from "./require-tools.js";
import type { Argv } from "./run-program.js";

export interface DhclientOptions {
  readonly interfaceName?: string;
  /** Option 12. */
  readonly hostname?: string;
  /** Option 61 as dhclient.conf(5) writes it: `"text"` in quotes or `01:02:03`. */
  readonly clientId?: string;
  /** `-1`: try once, then end with status 2. */
  readonly once?: boolean;
  readonly family?: 4 | 6;
  /** Lines put into dhclient.conf. */
  readonly conf?: string;
}

export interface UdhcpcOptions {
  readonly interfaceName?: string;
  readonly hostname?: string;
  readonly arguments?: readonly string[];
}

/** dhclient waits for minutes by default; a lab has no time. */
const QUICK_CONF = `timeout 15;
retry 1;
reboot 3;
select-timeout 0;
initial-interval 1;
backoff-cutoff 2;
request subnet-mask, broadcast-address, routers, domain-name, domain-name-servers, domain-search, host-name, ntp-servers,
  interface-mtu, dhcp-lease-time, dhcp-server-identifier;
`;

/** A bare-metal machine: a host that gets its addresses from DHCP and can be rebooted. */
export class Machine extends Host {
  readonly #clients = new Map<string, { readonly client: DhcpClient; readonly start: () => Promise<DhcpClient> }>();

  /** Starts a DHCP client on the interface, in the place of one that runs there. */
  async dhclient(options: DhclientOptions = {}): Promise<DhcpClient> {
    const interfaceName = options.interfaceName ?? "eth0";
    writeFileSync(this.#file(interfaceName, "conf"), dhclientConf(options));
    const argv: Argv = [
      this.unconfined("dhclient"),
      options.family === 6 ? "-6" : "-4",
      ...(options.once === true ? ["-1"] : []),
      "-d",
      "-v",
      ...["-cf", this.#file(interfaceName, "conf"), "-sf", this.place.programs.script("dhclient-script")],
      ...["-lf", this.#file(interfaceName, "leases"), "-pf", this.#file(interfaceName, "pid")],
      ...["-e", `BERTH_LAB_EVENTS=${this.#file(interfaceName, "events")}`],
      interfaceName,
    ];
    return this.#start(interfaceName, argv);
  }

  /** Starts busybox's DHCP client on the interface. */
  async udhcpc(options: UdhcpcOptions = {}): Promise<DhcpClient> {
    requireTools(["udhcpc"]);
    const interfaceName = options.interfaceName ?? "eth0";
    const argv: Argv = [
      "udhcpc",
      "-f",
      ...["-i", interfaceName, "-s", this.place.programs.script("udhcpc-script"), "-T", "1", "-t", "3", "-A", "1"],
      ...["-O", "search", "-O", "ntpsrv"],
      ...(options.hostname === undefined ? [] : ["-x", `hostname:${options.hostname}`]),
      ...(options.arguments ?? []),
    ];
    return this.#start(interfaceName, argv);
  }

  /**
   * Starts dhcpcd on the interface, with folders of its own for what it keeps, which it would share with other machines: `ip netns exec` gives
   * every program a mount namespace. It probes an address by ARP before it takes it, which takes five seconds.
   */
  async dhcpcd(options: { readonly interfaceName?: string; readonly arguments?: readonly string[] } = {}): Promise<DhcpClient> {
    requireTools(["dhcpcd"]);
    const interfaceName = options.interfaceName ?? "eth0";
    const kept = this.#file(interfaceName, "dhcpcd");
    mkdirSync(kept, { recursive: true });
    const folders = 'mount -t tmpfs tmpfs /run && mkdir /run/dhcpcd && mount --bind "$1" /var/lib/dhcpcd && shift && exec "$@"';
    const argv: Argv = [
      ...(["sh", "-c", folders, "sh", kept, "dhcpcd", "-B", "-4", "-L", "-f", "/dev/null"] as const),
      ...["-c", this.place.programs.script("dhcpcd-script"), "-e", `BERTH_LAB_EVENTS=${this.#file(interfaceName, "events")}`],
      ...["-o", "domain_name_servers,domain_name,routers"],
      ...(options.arguments ?? []),
      interfaceName,
    ];
    return this.#start(interfaceName, argv);
  }

  /** The client that runs on the interface. */
  client(interfaceName = "eth0"): DhcpClient {
    const started = this.#clients.get(interfaceName);
    if (started === undefined) throw new Error(`${this.name} has no DHCP client on ${interfaceName}`);
    return started.client;
  }

  /**
   * Power off and on: clients die, addresses and links go, the same clients start again. With its lease file a machine asks for its old
   * address (INIT-REBOOT), with the file wiped it knows nothing. Returns the client on `eth0`, or the only one.
   */
  async reboot(options: { readonly leaseFile?: "keep" | "wipe" } = {}): Promise<DhcpClient> {
    const started = [...this.#clients.entries()];
    if (started.length === 0) throw new Error(`${this.name} has no DHCP client to start again`);
    await this.powerOff();
    for (const port of this.ports.values()) await this.ip("link", "set", port.interfaceName, "up");
    for (const [interfaceName, { start }] of started) {
      if (options.leaseFile === "wipe")
        for (const what of ["leases", "dhcpcd"]) rmSync(this.#file(interfaceName, what), { force: true, recursive: true });
      await start();
    }
    return this.client(started.some(([name]) => name === "eth0") ? "eth0" : started[0]?.[0]);
  }

  /** Clients die without a word, addresses go, links go down. */
  async powerOff(): Promise<void> {
    await Promise.all([...this.#clients.values()].map(({ client }) => client.stop()));
    for (const { interfaceName } of this.ports.values()) {
      await this.ip("address", "flush", "dev", interfaceName);
      await this.ip("link", "set", interfaceName, "down");
    }
  }

  async #start(interfaceName: string, argv: Argv): Promise<DhcpClient> {
    await this.#clients.get(interfaceName)?.client.stop();
    const file = this.#file(interfaceName, "events");
    const start = async (): Promise<DhcpClient> => {
      const skip = countEvents(file);
      const environment = { BERTH_LAB_EVENTS: file };
      const running = await this.spawn(argv, { logFile: this.#file(interfaceName, "log"), env: environment });
      const client = new DhcpClient(interfaceName, running, { file, skip });
      this.#clients.set(interfaceName, { client, start });
      return client;
    };
    return start();
  }

  #file(interfaceName: string, what: string): string {
    return this.path(`dhcp-${interfaceName}.${what}`);
  }
}

function dhclientConf(options: DhclientOptions): string {
  const hostname = options.hostname === undefined ? "" : `send host-name "${options.hostname}";\n`;
  const clientId = options.clientId === undefined ? "" : `send dhcp-client-identifier ${options.clientId};\n`;
  const request6 = options.family === 6 ? "also request dhcp6.name-servers, dhcp6.domain-search;\n" : "";
  return `${QUICK_CONF}${request6}${hostname}${clientId}${options.conf ?? ""}`;
}
