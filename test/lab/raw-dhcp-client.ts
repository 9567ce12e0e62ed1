import { randomInt } from "node:crypto";
import { decodeDhcpReply, encodeDhcp, type DhcpPacket, type DhcpReply, type MessageType } from "./dhcp-packet.js";
import {
  addressBytes,
  answerPing,
  BROADCAST_MAC,
  decodeArp,
  decodeUdp,
  encodeArp,
  encodeUdp,
  ipv4Destination,
  macAt,
} from "./ethernet.js";
import type { FramePump } from "./frame-pump.js";

/** Any machine a test wants to be. */
export interface Stranger {
  readonly mac: string;
  /** Option 61 in hex, type octet included. */
  readonly clientId?: string;
  /** Option 12, any octets. */
  readonly hostname?: string | Uint8Array;
  /** Option 60. */
  readonly vendorClass?: string;
  /** Option 77. */
  readonly userClass?: string;
  /** Option 93, RFC 4578 §2.1: 0 BIOS, 7 UEFI x64, 16 UEFI HTTP boot. */
  readonly architecture?: number;
  /** More codes in option 55 than every stranger asks for. */
  readonly wanted?: readonly number[];
  /** More options, after the others. */
  readonly options?: readonly (readonly [number, Uint8Array])[];
  /** giaddr: speak as a relay with this address. */
  readonly relayAddress?: string;
  /** Whether it answers ARP and ping for addresses it was given; true unless told. A firewalled machine answers ARP only. */
  readonly answers?: "arp-and-ping" | "arp" | "nothing";
}

export interface Patience {
  /** For each attempt; 2 s unless told. */
  readonly waitMs?: number;
  /** Times the message is sent; 3 unless told. */
  readonly attempts?: number;
}

export interface Exchange {
  readonly stranger: Stranger;
  readonly offer: DhcpReply | null;
  /** ACK or NAK. */
  readonly reply: DhcpReply | null;
  /** The address it now holds, or null. */
  readonly address: string | null;
}

/** Option 55: mask, routers, DNS, host name, domain, broadcast, NTP, lease, server id, boot file, search list. */
const WANTED = Uint8Array.of(1, 3, 6, 12, 15, 28, 42, 51, 54, 66, 67, 119);

interface Waiting {
  readonly types: readonly MessageType[];
  readonly take: (reply: DhcpReply) => void;
}

/** DHCP clients by the thousand behind one interface, each with its own hardware address on the wire (RFC 2131). */
export class RawDhcpClient {
  readonly #pump: FramePump;
  readonly #waiting = new Map<number, Waiting>();
  readonly #held = new Map<string, Stranger>();
  #nextTransactionId = randomInt(1, 2 ** 31);

  constructor(pump: FramePump) {
    this.#pump = pump;
    pump.onFrame((frame) => this.#take(frame));
  }

  /** The first offer, or null when none came. `requested` is option 50. */
  async discover(stranger: Stranger, options: Patience & { readonly requested?: string } = {}): Promise<DhcpReply | null> {
    const more = options.requested === undefined ? [] : [addressOption(50, options.requested)];
    return this.#exchange(this.#packet("DISCOVER", stranger, more), stranger, ["OFFER"], options);
  }

  /** All offers that come within the time, one from each server that answers. */
  async offers(stranger: Stranger, waitMs = 1_500): Promise<DhcpReply[]> {
    const packet = this.#packet("DISCOVER", stranger, []);
    const offers: DhcpReply[] = [];
    this.#waiting.set(packet.transactionId, { types: ["OFFER"], take: (reply) => offers.push(reply) });
    this.#broadcast(packet, stranger);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    this.#waiting.delete(packet.transactionId);
    return offers;
  }

  /** The whole way from nothing to an address: DISCOVER, OFFER, REQUEST, ACK. */
  async dora(stranger: Stranger, options: Patience & { readonly requested?: string } = {}): Promise<Exchange> {
    const offer = await this.discover(stranger, options);
    if (offer === null) return { stranger, offer, reply: null, address: null };
    return this.select(stranger, offer, options);
  }

  /** Takes an offer (SELECTING). */
  async select(stranger: Stranger, offer: DhcpReply, patience: Patience = {}): Promise<Exchange> {
    const server = offer.serverId === null ? [] : [addressOption(54, offer.serverId)];
    const packet = this.#packet("REQUEST", stranger, [addressOption(50, offer.address), ...server]);
    const reply = await this.#exchange(packet, stranger, ["ACK", "NAK"], patience);
    return this.#settle(stranger, offer, reply);
  }

  /** Asks for the address it had before it rebooted (INIT-REBOOT). */
  async reboot(stranger: Stranger, address: string, patience: Patience = {}): Promise<Exchange> {
    const packet = this.#packet("REQUEST", stranger, [addressOption(50, address)]);
    return this.#settle(stranger, null, await this.#exchange(packet, stranger, ["ACK", "NAK"], patience));
  }

  /** Extends its lease: with a server straight to it (RENEWING), else to everyone (REBINDING). */
  async renew(
    stranger: Stranger,
    address: string,
    options: Patience & { readonly server?: Pick<DhcpReply, "serverId" | "serverMac"> } = {},
  ): Promise<Exchange> {
    this.#hold(stranger, address); // the server answers to the address, so it asks who has it
    const packet: DhcpPacket = { ...this.#packet("REQUEST", stranger, []), clientAddress: address };
    const reply = await this.#exchange(packet, stranger, ["ACK", "NAK"], { ...options, source: address });
    return this.#settle(stranger, null, reply);
  }

  /** Gives the address back; no answer exists (RFC 2131 §4.4.6). */
  release(stranger: Stranger, address: string, server: Pick<DhcpReply, "serverId" | "serverMac">): void {
    const options = server.serverId === null ? [] : [addressOption(54, server.serverId)];
    const packet: DhcpPacket = { ...this.#packet("RELEASE", stranger, options), clientAddress: address };
    this.#send(packet, { mac: stranger.mac, source: address, server });
    this.#held.delete(address);
  }

  /** Says that the address is in use by another; no answer exists. */
  decline(stranger: Stranger, address: string, server: Pick<DhcpReply, "serverId">): void {
    const id = server.serverId === null ? [] : [addressOption(54, server.serverId)];
    this.#broadcast(this.#packet("DECLINE", stranger, [addressOption(50, address), ...id]), stranger);
    this.#held.delete(address);
  }

  /** Answers ARP, and ping unless the stranger is firewalled, for an address that no DHCP server gave. */
  squat(stranger: Stranger, address: string): void {
    this.#hold(stranger, address);
  }

  /** Switches a stranger's machine off: its addresses answer no more. */
  powerOff(stranger: Stranger): void {
    for (const [address, holder] of this.#held) if (holder.mac === stranger.mac) this.#held.delete(address);
  }

  /** Does something for each of them, so many at a time; the results are in their order. */
  async each<S, T>(all: readonly S[], act: (one: S) => Promise<T>, parallel = 100): Promise<T[]> {
    const results = new Array<T>(all.length);
    const queue = all.entries(); // shared by the workers: each takes the next
    const work = async (): Promise<void> => {
      for (const [index, one] of queue) results[index] = await act(one);
    };
    await Promise.all(Array.from({ length: Math.min(parallel, all.length) }, work));
    return results;
  }

  async close(): Promise<void> {
    await this.#pump.close();
  }

  #packet(type: MessageType, stranger: Stranger, more: readonly (readonly [number, Uint8Array])[]): DhcpPacket {
    const bytes = (value: string | Uint8Array): Uint8Array => (typeof value === "string" ? Buffer.from(value, "utf8") : value);
    const options: (readonly [number, Uint8Array])[] = [...more];
    if (stranger.clientId !== undefined) options.push([61, Buffer.from(stranger.clientId, "hex")]);
    if (stranger.hostname !== undefined) options.push([12, bytes(stranger.hostname)]);
    if (stranger.vendorClass !== undefined) options.push([60, bytes(stranger.vendorClass)]);
    if (stranger.userClass !== undefined) options.push([77, bytes(stranger.userClass)]);
    if (stranger.architecture !== undefined)
      options.push([93, Uint8Array.of(stranger.architecture >> 8, stranger.architecture & 255)]);
    if (type === "DISCOVER" || type === "REQUEST" || type === "INFORM")
      options.push([55, Uint8Array.of(...WANTED, ...(stranger.wanted ?? []))]);
    this.#nextTransactionId = (this.#nextTransactionId + 1) >>> 0;
    return {
      type,
      transactionId: this.#nextTransactionId,
      mac: stranger.mac,
      options: [...options, ...(stranger.options ?? [])],
      ...(stranger.relayAddress === undefined ? {} : { relayAddress: stranger.relayAddress }),
    };
  }

  async #exchange(
    packet: DhcpPacket,
    stranger: Stranger,
    types: readonly MessageType[],
    options: Patience & { readonly source?: string; readonly server?: Pick<DhcpReply, "serverId" | "serverMac"> },
  ): Promise<DhcpReply | null> {
    const begun = performance.now();
    for (let attempt = 0; attempt < (options.attempts ?? 3); attempt++) {
      const aged = { ...packet, seconds: Math.round((performance.now() - begun) / 1000) };
      const reply = await new Promise<DhcpReply | null>((resolve) => {
        const timer = setTimeout(() => resolve(null), options.waitMs ?? 2_000);
        const take = (got: DhcpReply): void => {
          clearTimeout(timer);
          resolve(got);
        };
        this.#waiting.set(packet.transactionId, { types, take });
        if (options.source === undefined) this.#broadcast(aged, stranger);
        else this.#send(aged, { mac: stranger.mac, source: options.source, server: options.server });
      });
      this.#waiting.delete(packet.transactionId);
      if (reply !== null) return reply;
    }
    return null;
  }

  #settle(stranger: Stranger, offer: DhcpReply | null, reply: DhcpReply | null): Exchange {
    const address = reply?.type === "ACK" ? reply.address : null;
    if (address !== null) this.#hold(stranger, address);
    if (reply?.type === "NAK") this.powerOff(stranger);
    return { stranger, offer, reply, address };
  }

  #hold(stranger: Stranger, address: string): void {
    this.#held.set(address, stranger);
  }

  #broadcast(packet: DhcpPacket, stranger: Stranger): void {
    this.#send(packet, { mac: stranger.mac, source: stranger.relayAddress ?? "0.0.0.0" });
    if (stranger.relayAddress !== undefined) this.#hold(stranger, stranger.relayAddress);
  }

  #send(
    packet: DhcpPacket,
    route: {
      readonly mac: string;
      readonly source: string;
      readonly server?: Pick<DhcpReply, "serverId" | "serverMac"> | undefined;
    },
  ): void {
    const datagram = {
      sourceMac: route.mac,
      destinationMac: route.server?.serverMac ?? BROADCAST_MAC,
      source: route.source,
      destination: route.server?.serverId ?? "255.255.255.255",
      sourcePort: packet.relayAddress === undefined ? 68 : 67,
      destinationPort: 67,
      payload: encodeDhcp(packet),
    };
    this.#pump.send(encodeUdp(datagram));
  }

  #take(frame: Buffer): void {
    const udp = decodeUdp(frame);
    if (udp !== null) {
      if (udp.destinationPort === 68 || udp.destinationPort === 67) this.#takeReply(decodeDhcpReply(udp.payload, udp.sourceMac));
      return;
    }
    const arp = decodeArp(frame);
    const asked = arp?.operation === "request" ? arp.targetAddress : ipv4Destination(frame);
    const holder = asked === null ? undefined : this.#held.get(asked);
    if (asked === null || holder === undefined || holder.answers === "nothing") return;
    if (arp !== null) {
      if (arp.senderMac === holder.mac) return;
      const target = { targetMac: arp.senderMac, targetAddress: arp.senderAddress };
      this.#pump.send(encodeArp({ operation: "reply", senderMac: holder.mac, senderAddress: asked, ...target }));
    } else if (holder.answers !== "arp" && macAt(frame, 0) === holder.mac) {
      const pong = answerPing(frame, holder.mac);
      if (pong !== null) this.#pump.send(pong);
    }
  }

  #takeReply(reply: DhcpReply | null): void {
    if (reply === null) return;
    const waiting = this.#waiting.get(reply.transactionId);
    if (waiting?.types.includes(reply.type) === true) waiting.take(reply);
  }
}

/** A hardware address made of a number: `02:53:...` for strangers. */
export function strangerMac(n: number): string {
  const hex = n.toString(16).padStart(8, "0").slice(-8);
  return `02:53:${hex.match(/../g)?.join(":") ?? ""}`;
}

function addressOption(code: number, address: string): readonly [number, Uint8Array] {
  return [code, addressBytes(address)];
}
