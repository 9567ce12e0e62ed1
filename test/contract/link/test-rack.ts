import { randomUUID } from "node:crypto";
import {
  DesiredDigests,
  ipAddress,
  parseRegionAddress,
  type AgentMessage,
  type Channel,
  type CoordinatorMessage,
  type DesiredState,
  type HostInterface,
  type IpAddress,
  type LeaseReport,
  type Problem,
} from "@berth/core";
import { sha256, silentLog } from "@berth/host";
import type { Identity } from "../../../packages/agent/src/identity/identity.js";
import { decodeFrame, encodeFrame } from "../../../packages/agent/src/link/frames.js";
import { createLink, type Link, type LinkOptions } from "../../../packages/agent/src/link/link.js";
import { decodeFrame as decodeAgentFrame } from "../../../packages/coordinator/src/hub/frames.js";
import type { LinkWorld } from "./link-world.js";

/** A rack whose link runs, with what it sent and took. */
export interface TestRack {
  readonly identity: Identity;
  readonly link: Link;
  readonly leases: Map<string, LeaseReport>;
  readonly sent: AgentMessage[];
  readonly heard: CoordinatorMessage[];
  readonly taken: DesiredState[];
  readonly saved: Identity[];
  /** Lists of addresses that the region wanted probed. */
  readonly wanted: (readonly IpAddress[])[];
  /** Cuts the connection as a broken network does. */
  cut(): void;
  stop(): Promise<void>;
}

export function startRack(world: LinkWorld, identity: Identity, changes: Partial<LinkOptions> = {}): TestRack {
  const leases = new Map<string, LeaseReport>();
  const sent: AgentMessage[] = [];
  const heard: CoordinatorMessage[] = [];
  const taken: DesiredState[] = [];
  const saved: Identity[] = [];
  const wanted: (readonly IpAddress[])[] = [];
  let channel: Channel | null = null;
  const link = createLink({
    identity,
    regions: [world.address()],
    clock: world.clock,
    random: () => 0.2,
    log: silentLog,
    hostname: "rack.example",
    version: "test",
    stream: randomUUID(),
    held: () => taken.at(-1) ?? null,
    digests: new DesiredDigests(sha256),
    onDesired(state) {
      taken.push(state);
      return Promise.resolve(null);
    },
    leases: () => [...leases.values()],
    saveIdentity(newer) {
      saved.push(newer);
      return Promise.resolve();
    },
    wire: () => [],
    onProbe: (addresses) => void wanted.push(addresses),
    async dial(address, dialer, signal) {
      const opened = await world.dial(address, dialer, signal);
      channel = opened;
      return recording(opened, { sent, heard });
    },
    ...changes,
  });
  const stop = new AbortController();
  const running = link.run(stop.signal);
  return {
    identity,
    link,
    leases,
    sent,
    heard,
    taken,
    saved,
    wanted,
    cut: () => channel?.terminate(),
    async stop() {
      stop.abort();
      await running;
    },
  };
}

function recording(channel: Channel, { sent, heard }: Pick<TestRack, "sent" | "heard">): Channel {
  return {
    get bufferedBytes() {
      return channel.bufferedBytes;
    },
    listen: (listener) => {
      channel.listen({
        ...listener,
        frame(bytes) {
          const decoded = decodeFrame(bytes);
          if (decoded.kind === "message") heard.push(decoded.message);
          listener.frame(bytes);
        },
      });
    },
    send(frame) {
      const decoded = decodeAgentFrame(frame);
      if (decoded.kind === "message") sent.push(decoded.message);
      channel.send(frame);
    },
    ping: () => {
      channel.ping();
    },
    close: (code, reason) => {
      channel.close(code, reason);
    },
    terminate: () => {
      channel.terminate();
    },
  };
}

/** A peer driven by hand, to say what no agent of ours would say. */
export interface RawPeer {
  readonly channel: Channel;
  readonly heard: CoordinatorMessage[];
  readonly closed: { readonly code: number; readonly reason: string }[];
  say(message: AgentMessage): void;
  hello(changes?: Partial<Extract<AgentMessage, { readonly type: "hello" }>>): void;
}

/** `deaf` peers never read. */
export async function rawPeer(world: LinkWorld, identity: Identity, { deaf = false } = {}): Promise<RawPeer> {
  const address = parseRegionAddress(world.address());
  if (!address.ok) throw new Error("no address");
  const channel = await world.dial(address.value, identity, new AbortController().signal);
  const heard: CoordinatorMessage[] = [];
  const closed: { code: number; reason: string }[] = [];
  const listen = deaf ? () => undefined : channel.listen.bind(channel);
  listen({
    frame(bytes) {
      const decoded = decodeFrame(bytes);
      if (decoded.kind === "message") heard.push(decoded.message);
    },
    alive: () => undefined,
    closed: (code, reason) => closed.push({ code, reason }),
  });
  const say = (message: AgentMessage): void => {
    channel.send(encodeFrame(message));
  };
  return {
    channel,
    heard,
    closed,
    say,
    hello: (changes = {}) => {
      say({ type: "hello", version: "test", rack: identity.rack, hostname: "h", generation: 0, stream: "raw", ...changes });
    },
  };
}

export function lease(address: string, changes: Partial<LeaseReport> = {}): LeaseReport {
  return {
    address: ipAddress(address),
    state: "active",
    inUse: true,
    allocatable: false,
    hardwareAddress: null,
    dnsLabel: null,
    starts: 1,
    ends: 2,
    ...changes,
  };
}

export function nic(name: string, address: string): HostInterface {
  const addresses = [
    {
      address: ipAddress(address),
      prefixLength: 24,
      peer: null,
      broadcast: null,
      scope: "global",
      label: null,
      flags: [],
      protocol: null,
      validLifetime: null,
      preferredLifetime: null,
    },
  ];
  const none = { index: 2, parent: null, kind: null, vlanId: null, hardwareAddress: null, permanentAddress: null };
  return { name, ...none, flags: ["UP", "LOWER_UP"], mtu: 1500, addresses };
}

export function desired(rack: string, generation: number): DesiredState {
  return { format: 1, rack, generation, subnets: [], zones: [], queryFrom: [], forwarders: [] };
}

export function problem(code: string): Problem {
  return { code, at: "test", message: "made by the test" };
}
