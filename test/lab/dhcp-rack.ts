import { chmodSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ipAddress, type Activation, type DaemonStatus, type DesiredSubnet, type HardwareAddress } from "@berth/core";
import { subnetOf } from "../fixtures/dhcpd/subnet.js";
import type { Host } from "./host.js";
import type { Lab } from "./lab.js";
import { programSource } from "./programs.js";
import type { RawDhcpClient } from "./raw-dhcp-client.js";
import type { Argv, RunResult } from "./run-program.js";
import type { Running } from "./running.js";
import { waitUntil } from "./wait-until.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ADDRESS = "192.168.50.1";

/** What the reconciler says of itself. */
export interface Told {
  readonly status: DaemonStatus;
  readonly activations: readonly Activation[];
  /** Calls of its ports so far. */
  readonly calls: number;
}

/** A machine that a desired state knows, and the address that it then gets. */
export interface Known {
  readonly mac: string;
  readonly address: string;
}

/** A rack with the DHCP reconciler and nothing else of an agent, and a machine on its link that asks. */
export class DhcpRack {
  readonly host: Host;
  readonly state: string;
  readonly program: string;
  readonly clients: RawDhcpClient;
  readonly #desired: string;
  #generation = 0;
  #running: Running | null = null;

  private constructor(host: Host, clients: RawDhcpClient) {
    this.host = host;
    this.clients = clients;
    this.state = host.path("agent");
    this.#desired = host.path("desired.json");
    this.program = host.path("dhcpd-program");
    mkdirSync(this.state, { recursive: true });
    this.useProgram("");
  }

  static async create(lab: Lab): Promise<DhcpRack> {
    const link = await lab.addLink("rack");
    const host = await lab.addRack("rack", { backbone: null });
    await host.connect(link, { addresses: [`${ADDRESS}/24`] });
    const crowd = await lab.addHost("crowd");
    await crowd.connect(link);
    return new DhcpRack(host, await crowd.rawDhcp());
  }

  /** dhcpd behind a shell script that may do something else first: `$@` are its arguments, `$is_check` is set for `dhcpd -t`. */
  useProgram(script: string): void {
    const check = 'case " $* " in *" -t "*) is_check=1 ;; esac';
    writeFileSync(this.program, `#!/bin/sh\n${check}\n${script}\nexec ${this.host.unconfined("dhcpd")} "$@"\n`);
    chmodSync(this.program, 0o755);
  }

  /** What is desired from now on: these machines, in mode `static`. */
  desire(...machines: readonly Known[]): void {
    this.desireSubnet(this.#subnetOf(machines));
  }

  #subnetOf(machines: readonly Known[]): DesiredSubnet {
    const hosts = machines.map(({ mac, address }, n) => ({
      hardwareAddress: mac as HardwareAddress,
      address: ipAddress(address),
      name: `m${n}.example.test`,
    }));
    return { ...subnetOf({ mode: "static", gateway: null }), hosts };
  }

  desireSubnet(subnet: DesiredSubnet, path = this.#desired): void {
    const state = {
      format: 1,
      rack: "r",
      generation: ++this.#generation,
      subnets: [subnet],
      zones: [],
      queryFrom: [],
      forwarders: [],
    };
    writeFileSync(`${path}.new`, JSON.stringify(state));
    renameSync(`${path}.new`, path);
  }

  /** Runs the reconciler until it has done all it can for now, or until its Nth call kills it; at `first` on what then is no longer desired. */
  async reconcile({
    first,
    ...options
  }: {
    readonly killAt?: number;
    readonly state?: string;
    readonly first?: readonly Known[];
  } = {}): Promise<RunResult & { readonly told: Told | null }> {
    const before = first === undefined ? {} : { first: this.host.path("desired-first.json") };
    if (first !== undefined) this.desireSubnet(this.#subnetOf(first), before.first);
    const argv = this.argv({ once: true, ...options, ...before });
    const result = await this.host.run(argv, { cwd: ROOT, timeoutMs: 60_000 });
    return { ...result, told: lastOf(result.stdout.split("\n")) };
  }

  /** Keeps the reconciler running; on a disk of its own, which it and its dhcpd alone see, when told how large. */
  async start(options: { readonly diskSize?: string } = {}): Promise<void> {
    // ip-netns(8) gives each program a mount namespace of its own.
    const mount = 'mount -t tmpfs -o size="$1" tmpfs "$0" && shift && exec "$@"';
    const { diskSize } = options;
    const argv: Argv = diskSize === undefined ? this.argv({}) : ["sh", "-c", mount, this.state, diskSize, ...this.argv({})];
    this.#running = await this.host.spawn(argv, { cwd: ROOT, logFile: this.host.path("reconciler.log") });
  }

  /** The state folder as the running reconciler sees it. */
  get seenState(): string {
    return `/proc/${this.#running?.pid ?? 0}/root${this.state}`;
  }

  async stop(): Promise<void> {
    await this.#running?.stop({ signal: "SIGKILL" });
  }

  /** Waits for something that the running reconciler tells. */
  async told(describe: string, until: (told: Told) => boolean, deadlineMs = 30_000): Promise<Told> {
    const told = await waitUntil(() => lastOf(this.#running?.lines ?? []), {
      describe,
      deadlineMs,
      until: (last) => last !== null && until(last),
    });
    if (told === null) throw new Error("waitUntil returned without what was told");
    return told;
  }

  /** Which of these machines are served, each by its own address. */
  async served(...machines: readonly Known[]): Promise<string[]> {
    const got = await this.clients.each(machines, ({ mac }) => this.clients.dora({ mac }, { waitMs: 250, attempts: 2 }));
    return got.flatMap(({ address }) => (address === null ? [] : [address]));
  }

  /** Waits until the first is served and the other is not. */
  async serves(wanted: Known, unwanted: Known, describe = "the right machine is served"): Promise<void> {
    await waitUntil(() => this.served(wanted, unwanted), {
      describe,
      until: (addresses) => addresses.length === 1 && addresses[0] === wanted.address,
    });
  }

  /** Pid of the dhcpd that runs; 0 for none. */
  async dhcpdPid(): Promise<number> {
    const { stdout } = await this.host.run([
      "sh",
      "-c",
      "for p in $(ip netns pids $0); do echo $p $(tr '\\0' ' ' </proc/$p/cmdline); done",
      this.host.namespace,
    ]);
    const line = stdout.split("\n").find((text) => text.includes("/dhcpd -4 -f "));
    return Number(line?.split(" ")[0] ?? 0);
  }

  file(name: string): string {
    return join(this.state, "dhcpd", name);
  }

  argv(options: Record<string, unknown>): Argv {
    const task = { state: this.state, program: this.program, desired: this.#desired, address: ADDRESS, ...options };
    return ["node", "--import", "tsx", programSource("dhcp-reconciler.ts"), JSON.stringify(task)];
  }
}

function lastOf(lines: readonly string[]): Told | null {
  const last = lines.filter((line) => line.startsWith("{")).at(-1);
  return last === undefined ? null : (JSON.parse(last) as Told);
}
