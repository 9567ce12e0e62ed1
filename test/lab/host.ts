import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseDigAnswers, type DnsAnswer, type DnsQuestion } from "./dns-query.js";
import { FramePump } from "./frame-pump.js";
import { ipBatch } from "./namespaces.js";
import type { Link } from "./link.js";
import { Port } from "./port.js";
import type { Programs } from "./programs.js";
import { probeAddress } from "./arp.js";
import { RawDhcpClient } from "./raw-dhcp-client.js";
import { runOrThrow, runProgram, type Argv, type RunOptions, type RunResult } from "./run-program.js";
import { Running, type SpawnOptions } from "./running.js";

export interface ConnectOptions {
  /** `eth0`, `eth1`, ... in the order of connecting unless told. */
  readonly interfaceName?: string;
  readonly mac?: string;
  /** With prefix lengths: `192.168.50.1/24`. */
  readonly addresses?: readonly string[];
}

export interface HostAddress {
  readonly interfaceName: string;
  readonly family: "inet" | "inet6";
  readonly address: string;
  readonly prefixLength: number;
  readonly scope: string;
}

export interface Neighbour {
  readonly interfaceName: string;
  readonly address: string;
  readonly mac: string | null;
  readonly states: readonly string[];
}

/** What a host needs of the lab it is in. */
export interface HostPlace {
  readonly namespace: string;
  /** For its logs and files. */
  readonly directory: string;
  /** Of every program that runs here. */
  readonly environment: Readonly<Record<string, string>>;
  readonly programs: Programs;
  /** A hardware address that no other port of the lab has. */
  nextMac(): string;
  /** Called with whatever must be ended when the lab closes. */
  onStart(running: Running): void;
}

/** A computer of the lab: a network namespace with its interfaces. */
export class Host {
  readonly name: string;
  readonly namespace: string;
  /** A directory of its own, gone when the lab closes. */
  readonly directory: string;
  readonly ports = new Map<string, Port>();
  protected readonly place: HostPlace;

  constructor(name: string, place: HostPlace) {
    this.name = name;
    this.namespace = place.namespace;
    this.directory = place.directory;
    this.place = place;
    mkdirSync(place.directory, { recursive: true });
  }

  /** Puts a cable between a new interface of this host and the link; the interface is up when it returns. */
  async connect(link: Link, options: ConnectOptions = {}): Promise<Port> {
    const interfaceName = options.interfaceName ?? this.#nextInterfaceName();
    if (this.ports.has(interfaceName)) throw new Error(`${this.name} already has ${interfaceName}`);
    const mac = options.mac ?? this.place.nextMac();
    const place = link.nextPort();
    const port = new Port(interfaceName, mac, { ...place, programs: this.place.programs, environment: this.place.environment });
    this.ports.set(interfaceName, port);
    await ipBatch(this.namespace, [
      `link add ${interfaceName} address ${mac} type veth peer name ${place.switchInterface} netns ${place.switchNamespace}`,
    ]);
    await ipBatch(place.switchNamespace, [`link set ${place.switchInterface} master ${place.bridge} up`]);
    await ipBatch(this.namespace, [
      `link set ${interfaceName} up`,
      ...(options.addresses ?? []).map((address) => addressLine(address, interfaceName)),
    ]);
    return port;
  }

  /** The interface's cable; `eth0` unless told. */
  port(interfaceName = "eth0"): Port {
    const port = this.ports.get(interfaceName);
    if (port === undefined) throw new Error(`${this.name} has no ${interfaceName}, but ${[...this.ports.keys()].join(", ")}`);
    return port;
  }

  /** Loses every frame of this host while its carriers stay. */
  async cutOff(): Promise<void> {
    await Promise.all([...this.ports.values()].map((port) => port.cut()));
  }

  /** Ends {@link cutOff}. */
  async rejoin(): Promise<void> {
    await Promise.all([...this.ports.values()].map((port) => port.join()));
  }

  /** Runs a program on this host to its end, whatever its status. */
  run(argv: Argv, options: RunOptions = {}): Promise<RunResult> {
    return runProgram(this.command(argv), this.#marked(options));
  }

  /** Runs a program that must succeed and returns what it printed. */
  runOrThrow(argv: Argv, options: RunOptions = {}): Promise<string> {
    return runOrThrow(this.command(argv), this.#marked(options));
  }

  /** Starts a program that runs on; it is ended with the lab at the latest. */
  async spawn(argv: Argv, options: SpawnOptions = {}): Promise<Running> {
    const running = await Running.start(this.command(argv), this.#marked(options));
    this.place.onStart(running);
    return running;
  }

  /** Starts a program that belongs to this host but runs on the machine's own network: one that enters the host's by itself. */
  async spawnOutside(argv: Argv, options: SpawnOptions = {}): Promise<Running> {
    const running = await Running.start(argv, this.#marked(options));
    this.place.onStart(running);
    return running;
  }

  /** Runs such a program to its end, whatever its status. */
  runOutside(argv: Argv, options: RunOptions = {}): Promise<RunResult> {
    return runProgram(argv, this.#marked(options));
  }

  /** The argv that runs a program on this host. The program keeps the pid: ip-netns(8) replaces itself with it. */
  command(argv: Argv): Argv {
    return ["ip", "netns", "exec", this.namespace, ...argv];
  }

  /** ip(8) on this host: `host.ip("addr", "add", "10.0.0.1/32", "dev", "eth0")`. */
  ip(...args: string[]): Promise<string> {
    return runOrThrow(["ip", "-n", this.namespace, ...args]);
  }

  /** The path of a file in this host's directory. */
  path(...parts: string[]): string {
    return join(this.directory, ...parts);
  }

  /** See {@link Programs.unconfined}. */
  unconfined(tool: Parameters<Programs["unconfined"]>[0]): string {
    return this.place.programs.unconfined(tool);
  }

  async addresses(interfaceName?: string): Promise<HostAddress[]> {
    const json = await this.ip("-json", "address", "show", ...(interfaceName === undefined ? [] : ["dev", interfaceName]));
    return (JSON.parse(json) as IpAddressEntry[]).flatMap((entry) =>
      (entry.addr_info ?? []).flatMap((a) =>
        a.local === undefined
          ? []
          : [{ interfaceName: entry.ifname, family: a.family, address: a.local, prefixLength: a.prefixlen, scope: a.scope }],
      ),
    );
  }

  /** Its first IPv4 address on the interface, or null. */
  async address(interfaceName = "eth0"): Promise<string | null> {
    return (await this.addresses(interfaceName)).find((a) => a.family === "inet")?.address ?? null;
  }

  async neighbours(): Promise<Neighbour[]> {
    const entries = JSON.parse(await this.ip("-json", "neigh", "show")) as IpNeighbourEntry[];
    return entries.map((e) => ({ interfaceName: e.dev, address: e.dst, mac: e.lladdr ?? null, states: e.state ?? [] }));
  }

  /** Whether the address answers one of these pings. */
  async ping(address: string, options: { readonly count?: number; readonly waitSeconds?: number } = {}): Promise<boolean> {
    const limits = ["-n", "-q", "-i", "0.2", "-c", String(options.count ?? 1), "-W", String(options.waitSeconds ?? 1)];
    return (await this.run(["ping", ...limits, address])).status === 0;
  }

  /** The hardware addresses that answer an ARP probe (RFC 5227 §1.1) for the address; none if it is free. */
  async arping(address: string, options: { readonly interfaceName?: string; readonly waitMs?: number } = {}): Promise<string[]> {
    const interfaceName = options.interfaceName ?? "eth0";
    const pump = await this.openPump(interfaceName);
    try {
      return await probeAddress(pump, { address, mac: this.port(interfaceName).mac, waitMs: options.waitMs ?? 500 });
    } finally {
      await pump.close();
    }
  }

  /** Asks a DNS server from this host. */
  async query(name: string, type: string, server: string): Promise<DnsAnswer> {
    const [answer] = await this.queryAll([{ name, type }], server);
    if (answer === undefined) throw new Error("one question must have one answer");
    return answer;
  }

  /** Asks many questions, one after the other, by one program; the answers are in the order of the questions. */
  async queryAll(questions: readonly DnsQuestion[], server: string): Promise<DnsAnswer[]> {
    const flags = ["+tries=2", "+time=1", "+nocookie", "+noall", "+comments", "+question", "+answer"];
    const input = questions.map((q) => `${q.name} ${q.type}\n`).join("");
    const argv: Argv = ["dig", `@${server}`, ...flags, "-f", "-"];
    const result = await this.run(argv, { input, timeoutMs: 10_000 + questions.length * 2_500 });
    // dig(1): 9 is "no reply from a server".
    if (result.status !== 0 && result.status !== 9) throw new Error(`dig ended with ${result.status}: ${result.stderr}`);
    return parseDigAnswers(result.stdout, questions);
  }

  /** Sees and sends whole frames on an interface. */
  async openPump(interfaceName = "eth0"): Promise<FramePump> {
    const program = await this.place.programs.compiled("frame-pump");
    return FramePump.open(this.command([program, interfaceName]), this.place.environment);
  }

  /** A DHCP client that speaks as any number of strangers behind this host's interface. */
  async rawDhcp(interfaceName = "eth0"): Promise<RawDhcpClient> {
    return new RawDhcpClient(await this.openPump(interfaceName));
  }

  #marked<T extends { readonly env?: Readonly<Record<string, string>> }>(options: T): T {
    return { ...options, env: { ...options.env, ...this.place.environment } };
  }

  #nextInterfaceName(): string {
    for (let n = 0; ; n++) if (!this.ports.has(`eth${n}`)) return `eth${n}`;
  }
}

/** IPv6 addresses are usable at once: the lab gives none twice. */
function addressLine(address: string, interfaceName: string): string {
  return `address add ${address} dev ${interfaceName}${address.includes(":") ? " nodad" : " brd +"}`;
}

interface IpAddressEntry {
  readonly ifname: string;
  readonly addr_info?: readonly {
    readonly family: "inet" | "inet6";
    readonly local?: string;
    readonly prefixlen: number;
    readonly scope: string;
  }[];
}

interface IpNeighbourEntry {
  readonly dst: string;
  readonly dev: string;
  readonly lladdr?: string;
  readonly state?: readonly string[];
}
