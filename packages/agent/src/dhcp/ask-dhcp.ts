import { createSocket, type Socket } from "node:dgram";
import {
  decodeDhcpReply,
  DHCP_SERVER_PORT,
  encodeDhcpQuestion,
  encodeInformationRequest,
  isReplyTo,
  QUESTION_HARDWARE_ADDRESS,
  type ProbeTarget,
} from "@berth/core";
import { EnvironmentError } from "@berth/host";
import { DHCP6_CLIENT_PORT, DHCP6_SERVER_PORT, DHCP6_SERVERS, ownLinkLocal, withoutZone } from "./dhcp6-link.js";

const UNASKABLE = "the DHCP server cannot be asked whether it answers";

export interface AskDhcpOptions {
  readonly transactionId: number;
  readonly waitMs: number;
}

/** A group of the local link that nobody is in (RFC 4727 §2.4.2): other hosts' network cards pass it over. */
const NOBODY = "224.0.0.254";

/**
 * Asks the dhcpd of this very host whether it answers on that link; true when it did. Throws `dhcp-unaskable` when the question could not be sent.
 *
 * dhcpd hears through a packet socket, and that sees what its own host sends out of the interface, whatever the destination. A DHCPINFORM takes no
 * address and leaves nothing in the leases file, and with a relay's address (giaddr) in it the answer comes as UDP to that address, port 67: the
 * rack's own. There a socket bound to the address hears it beside dhcpd's own, which is bound to every address (both with SO_REUSEADDR). Measured:
 * 0.6-1.2 ms; silent when dhcpd is stopped (SIGSTOP) and when its interface was made anew; nothing without carrier.
 *
 * Where a wire is not authoritative dhcpd takes the question, logs that it will not answer it, and goes on: its log tells (see `heardQuestion`).
 */
export function askDhcp4({ address }: ProbeTarget, { transactionId, waitMs }: AskDhcpOptions): Promise<boolean> {
  const question = encodeDhcpQuestion({
    ...{ type: "inform", transactionId, hardwareAddress: QUESTION_HARDWARE_ADDRESS, relayAddress: address, wanted: [1, 3, 54] },
  });
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  return askOnce(socket, {
    waitMs,
    at: `${address} port ${DHCP_SERVER_PORT}`,
    bind: { address, port: DHCP_SERVER_PORT },
    send() {
      socket.setMulticastInterface(address);
      socket.setMulticastTTL(1);
      socket.setMulticastLoopback(false);
      socket.send(question, DHCP_SERVER_PORT, NOBODY);
    },
    isAnswer(packet, from) {
      const decoded = decodeDhcpReply(packet);
      return from === address && decoded.ok && decoded.reply.transactionId === transactionId;
    },
  });
}

/** dhcpd's own words for a question of {@link askDhcp4} that it read, in its log. */
export function heardQuestion(log: string, { address }: ProbeTarget): boolean {
  return log.includes(`DHCPINFORM from ${address} via ${address}`);
}

/**
 * The same of `dhcpd -6`, which hears through UDP sockets: the host's own multicast comes back to it. Other servers on the link hear it too (also with
 * hop limit 0, measured), so only an answer from this host's own link-local address counts. It is heard by a socket that is connected to that address, because
 * of the sockets at the client port the kernel gives a datagram to the one that asks for it most exactly: the search for foreign servers may listen there, too.
 */
export async function askDhcp6({ link }: ProbeTarget, { transactionId, waitMs }: AskDhcpOptions): Promise<boolean> {
  const at = `${link} port ${DHCP6_CLIENT_PORT}`;
  const own = await ownLinkLocal(link).catch((cause: unknown) => {
    throw new EnvironmentError("dhcp-unaskable", at, UNASKABLE, { cause });
  });
  const socket = createSocket({ type: "udp6", reuseAddr: true, ipv6Only: true });
  const sender = createSocket({ type: "udp6", reuseAddr: true, ipv6Only: true });
  const asked = askOnce(socket, {
    waitMs,
    at,
    bind: { address: "::", port: DHCP6_CLIENT_PORT },
    send(fail) {
      sender.on("error", fail);
      const guarded = (act: () => void) => (): void => {
        try {
          act();
        } catch (cause) {
          fail(cause); // the interface went in between
        }
      };
      const ask = guarded(() => {
        sender.setMulticastInterface(`::%${link}`);
        sender.setMulticastLoopback(true);
        const question = encodeInformationRequest(transactionId, QUESTION_HARDWARE_ADDRESS);
        sender.send(question, DHCP6_SERVER_PORT, `${DHCP6_SERVERS}%${link}`);
      });
      const bound = { address: "::", port: DHCP6_CLIENT_PORT, exclusive: true };
      socket.connect(
        DHCP6_SERVER_PORT,
        `${own}%${link}`,
        guarded(() => sender.bind(bound, ask)),
      );
    },
    isAnswer: (packet, from) => withoutZone(from) === own && isReplyTo(packet, transactionId),
  });
  return asked.finally(() => sender.close());
}

interface Exchange {
  readonly waitMs: number;
  readonly at: string;
  readonly bind: { readonly address: string; readonly port: number };
  /** Called once, when the socket is bound; `fail` takes what went wrong later. */
  send(fail: (cause: unknown) => void): void;
  isAnswer(packet: Uint8Array, from: string): boolean;
}

function askOnce(socket: Socket, exchange: Exchange): Promise<boolean> {
  const { waitMs, at, bind } = exchange;
  return new Promise((resolve, reject) => {
    let ended = false;
    const end = (settle: () => void): void => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      socket.removeAllListeners();
      socket.on("error", () => undefined); // what comes after the outcome does not change it
      socket.close();
      settle();
    };
    const fail = (cause: unknown): void => end(() => reject(new EnvironmentError("dhcp-unaskable", at, UNASKABLE, { cause })));
    const timer = setTimeout(() => end(() => resolve(false)), waitMs);
    socket.on("error", fail);
    socket.on("message", (packet, { address }) => {
      if (exchange.isAnswer(packet, address)) end(() => resolve(true));
    });
    socket.bind({ ...bind, exclusive: true }, () => {
      try {
        exchange.send(fail);
      } catch (cause) {
        fail(cause);
      }
    });
  });
}
