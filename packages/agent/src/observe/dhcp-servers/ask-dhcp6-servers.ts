import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import {
  advertisedOffer,
  decodeAdvertise,
  encodeSolicit,
  parseIpAddress,
  QUESTION_HARDWARE_ADDRESS,
  type HeardOffer,
} from "@berth/core";
import { describeError, EnvironmentError, type Clock } from "@berth/host";
import { DHCP6_CLIENT_PORT, DHCP6_SERVER_PORT, DHCP6_SERVERS, withoutZone } from "../../dhcp/dhcp6-link.js";
import type { AskedLink } from "./ask-dhcp-servers.js";

/** The question is sent again after this long, and answers are awaited as long. */
const AGAIN_MS = 1_500;
/** Replies kept of one round. */
const OFFERS_MAX = 1024;
const TRANSACTION_IDS = 2 ** 24;

/**
 * Asks once on each link which DHCPv6 servers are there, as a machine would that boots (SOLICIT), and never takes up what is advertised. The host's own server does
 * not hear it. Throws `dhcp-question-failed` when the client port cannot be had, or nothing be sent.
 */
export async function askDhcp6Servers(
  links: readonly AskedLink[],
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly HeardOffer[]> {
  const byTransaction = new Map(links.map(({ interfaceName }) => [randomInt(TRANSACTION_IDS), interfaceName]));
  const offers: HeardOffer[] = [];
  const socket = await openSocket();
  try {
    socket.on("message", (packet, { address }) => {
      const advertisement = offers.length < OFFERS_MAX ? decodeAdvertise(packet) : null;
      const interfaceName = advertisement === null ? undefined : byTransaction.get(advertisement.transactionId);
      const source = parseIpAddress(withoutZone(address));
      if (advertisement === null || interfaceName === undefined || source === null) return;
      const offer = advertisedOffer(advertisement, { interfaceName, source });
      if (offer !== null) offers.push(offer);
    });
    for (let round = 0; round < 2; round++) {
      for (const [transactionId, link] of byTransaction) await sendQuestion(socket, link, transactionId);
      await clock.sleep(AGAIN_MS, signal);
    }
  } finally {
    socket.close();
  }
  return offers;
}

async function sendQuestion(socket: Socket, link: string, transactionId: number): Promise<void> {
  const packet = encodeSolicit(transactionId, QUESTION_HARDWARE_ADDRESS);
  try {
    socket.setMulticastInterface(`::%${link}`);
    await new Promise<void>((resolve, reject) => {
      socket.send(packet, DHCP6_SERVER_PORT, `${DHCP6_SERVERS}%${link}`, (error) => (error === null ? resolve() : reject(error)));
    });
  } catch (error) {
    throw failure(link, error);
  }
}

async function openSocket(): Promise<Socket> {
  const socket = createSocket({ type: "udp6", reuseAddr: true, ipv6Only: true });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.bind({ address: "::", port: DHCP6_CLIENT_PORT, exclusive: true }, resolve);
    });
    socket.setMulticastLoopback(false);
  } catch (error) {
    socket.close();
    throw failure(`port ${DHCP6_CLIENT_PORT}`, error);
  }
  socket.on("error", () => undefined); // what went wrong with one datagram of somebody else's ends nothing
  return socket;
}

function failure(at: string, error: unknown): EnvironmentError {
  const remedy = "let the agent use UDP port 546 (CAP_NET_BIND_SERVICE), or set dhcpd.foreign_check_seconds to 0";
  return new EnvironmentError("dhcp-question-failed", at, `cannot ask for DHCPv6 servers: ${describeError(error)}`, { remedy });
}
