import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { endOnExit, forgetOnExit } from "./end-on-exit.js";
import { Host, type HostPlace } from "./host.js";
import { Link } from "./link.js";
import { Machine } from "./machine.js";
import { ipBatch } from "./namespaces.js";
import { Programs } from "./programs.js";
import { requireTools } from "./require-tools.js";
import {
  claimRunDirectory,
  destroyLab,
  labEnvironment,
  namespacePrefix,
  reapStaleLabs,
  type RunDirectory,
} from "./run-directory.js";
import { runOrThrow } from "./run-program.js";
import type { Running } from "./running.js";

export interface LabOptions {
  /** For the owner record only: which test or program this is. */
  readonly name?: string;
}

export interface BackboneOptions {
  /** Its place on the backbone; 10.240.N.10/24 behind router 10.240.N.1 unless told, N counting from 1. `null`: not on the backbone. */
  readonly backbone?: { readonly address: string; readonly router: string } | null;
}

/** The interface that racks and regions have on the backbone. */
export const BACKBONE_INTERFACE = "mgmt0";

/** Makes an empty lab, after removing those that died. Close it; it also goes with its owner, however that ends. */
export async function createLab(options: LabOptions = {}): Promise<Lab> {
  requireTools(["ip"]);
  reapStaleLabs();
  const lab = new Lab(claimRunDirectory(options.name ?? "lab"));
  endOnExit(lab.id);
  try {
    await lab.start();
  } catch (error) {
    await lab.close();
    throw error;
  }
  return lab;
}

/** Racks, regions and machines as network namespaces, joined by bridges in a namespace of their own; nothing in the host's. */
export class Lab {
  readonly id: string;
  /** Gone when the lab closes. */
  readonly directory: string;
  readonly programs: Programs;
  readonly #switchNamespace: string;
  readonly #hosts = new Map<string, Host>();
  readonly #links = new Map<string, Link>();
  readonly #running = new Set<Running>();
  /** Namespaces that are being made. */
  readonly #adding = new Set<Promise<unknown>>();
  #portCount = 0;
  #macCount = 0;
  #backboneCount = 0;
  #router: Promise<Host> | null = null;
  #closed: Promise<void> | null = null;

  constructor(run: RunDirectory) {
    this.id = run.id;
    this.directory = join(run.path, "files");
    this.programs = new Programs(join(run.path, "programs"));
    this.#switchNamespace = `${namespacePrefix(run.id)}switch`;
  }

  /** Called once by {@link createLab}. */
  async start(): Promise<void> {
    await this.#addNamespace(this.#switchNamespace);
    // The switch is no host: it must not take part in IPv6 on its links.
    const quiet = "for f in all default; do echo 1 > /proc/sys/net/ipv6/conf/$f/disable_ipv6; done";
    await runOrThrow(["ip", "netns", "exec", this.#switchNamespace, "sh", "-c", quiet]);
  }

  /** A new segment. */
  async addLink(name: string): Promise<Link> {
    if (this.#links.has(name)) throw new Error(`the lab already has a link ${name}`);
    const bridge = `br${this.#links.size + 1}`;
    const link = new Link(name, bridge, {
      switchNamespace: this.#switchNamespace,
      nextPortName: () => `p${++this.#portCount}`,
    });
    this.#links.set(name, link);
    await ipBatch(this.#switchNamespace, [
      `link add ${bridge} type bridge stp_state 0 forward_delay 0 mcast_snooping 0`,
      `link set ${bridge} up`,
    ]);
    return link;
  }

  /** A host with no interface but lo. */
  addHost(name: string): Promise<Host> {
    return this.#add(name, (place) => new Host(name, place));
  }

  /** A machine with one interface, `eth0`, on the link: up, without an address. More by `machine.connect`. */
  async addMachine(name: string, link: Link, options: { readonly mac?: string } = {}): Promise<Machine> {
    const machine = await this.#add(name, (place) => new Machine(name, place));
    await machine.connect(link, options);
    return machine;
  }

  /** A host for a coordinator, with `mgmt0` on the backbone. */
  async addRegion(name: string, options: BackboneOptions = {}): Promise<Host> {
    return this.#onBackbone(await this.addHost(name), options);
  }

  /** A host for an agent, with `mgmt0` on the backbone. Its links by `rack.connect(link, { addresses })`: `eth0`, `eth1`... */
  async addRack(name: string, options: BackboneOptions = {}): Promise<Host> {
    return this.#onBackbone(await this.addHost(name), options);
  }

  /** The router between all networks of the backbone; made with the first host on it. Connect it to more links for more networks. */
  router(): Promise<Host> {
    this.#router ??= this.#makeRouter();
    return this.#router;
  }

  host(name: string): Host {
    const host = this.#hosts.get(name);
    if (host === undefined) throw new Error(`the lab has no host ${name}, but ${[...this.#hosts.keys()].join(", ")}`);
    return host;
  }

  /** Ends every program, removes every namespace and file. Calling it twice is fine. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const alive = [...this.#running].filter((running) => running.isRunning);
    await Promise.all([...alive.map((running) => running.stop({ graceMs: 3_000 })), Promise.allSettled(this.#adding)]);
    destroyLab(this.id);
    forgetOnExit(this.id);
  }

  async #makeRouter(): Promise<Host> {
    const router = await this.addHost("backbone");
    await router.runOrThrow(["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]);
    return router;
  }

  async #onBackbone(host: Host, options: BackboneOptions): Promise<Host> {
    if (options.backbone === null) return host;
    const n = ++this.#backboneCount;
    const { address, router } = options.backbone ?? { address: `10.240.${n}.10/24`, router: `10.240.${n}.1` };
    const link = await this.addLink(`backbone-${host.name}`);
    const length = address.split("/")[1] ?? "24";
    await (await this.router()).connect(link, { addresses: [`${router}/${length}`] });
    await host.connect(link, { interfaceName: BACKBONE_INTERFACE, addresses: [address] });
    await host.ip("route", "add", "default", "via", router);
    return host;
  }

  async #add<T extends Host>(name: string, make: (place: HostPlace) => T): Promise<T> {
    if (!/^[a-z][a-z0-9-]{0,30}$/.test(name) || name === "switch") throw new Error(`not a host name for the lab: ${name}`);
    if (this.#hosts.has(name)) throw new Error(`the lab already has a host ${name}`);
    const namespace = `${namespacePrefix(this.id)}${name}`;
    const directory = join(this.directory, name);
    mkdirSync(directory, { recursive: true });
    const host = make({
      namespace,
      directory,
      environment: labEnvironment(this.id),
      programs: this.programs,
      nextMac: () => macOf(++this.#macCount),
      onStart: (running) => this.#remember(running),
    });
    this.#hosts.set(name, host);
    await this.#addNamespace(namespace);
    return host;
  }

  async #addNamespace(namespace: string): Promise<void> {
    // One that is being made while the lab is taken down would stay behind.
    if (this.#closed !== null) throw new Error(`the lab is closed: no namespace ${namespace}`);
    const adding = runOrThrow(["ip", "netns", "add", namespace]).finally(() => this.#adding.delete(adding));
    this.#adding.add(adding);
    await adding;
    await runOrThrow(["ip", "-n", namespace, "link", "set", "lo", "up"]);
  }

  #remember(running: Running): void {
    this.#running.add(running);
    running.child.once("exit", () => this.#running.delete(running));
  }
}

/** The n-th hardware address of a lab: locally administered, the same in every run. */
function macOf(n: number): string {
  const hex = n.toString(16).padStart(4, "0");
  return `02:be:00:00:${hex.slice(0, 2)}:${hex.slice(2)}`;
}
