import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import {
  decodeDhcpReply,
  DHCP_CLIENT_PORT,
  DHCP_SERVER_PORT,
  encodeDhcpQuestion,
  ipAddress,
  QUESTION_HARDWARE_ADDRESS,
  type HeardOffer,
  type IpAddress,
} from "@berth/core";
import { describeError, EnvironmentError, type Clock } from "@berth/host";

/** A link to ask on, and this host's own address there. */
export interface AskedLink {
  readonly interfaceName: string;
  readonly address: IpAddress;
}

/** Every host on the link, whatever subnet it believes to be in (RFC 919). */
const EVERYBODY = "255.255.255.255";
/** The question is sent again after this long, and answers are awaited as long again: dnsmasq pings an address for 3 s before it offers it. */
const AGAIN_MS = 2_500;
/** Options that tell what machines are being given: mask, routers, DNS, domain, lease time, server identifier. */
const WANTED = [1, 3, 6, 15, 51, 54];
/** Replies kept of one round. */
const OFFERS_MAX = 1024;

/**
 * Asks once on each link which DHCP servers are there, as a machine would that boots (DISCOVER), and never takes up an offer. Throws `dhcp-question-failed` when
 * the client port cannot be had, or nothing be sent.
 */
export async function askDhcpServers(
  links: readonly AskedLink[],
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly HeardOffer[]> {
  const byTransaction = new Map<number, AskedLink>(links.map((link) => [randomInt(2 ** 32), link]));
  const offers: HeardOffer[] = [];
  const listener = await openSocket("0.0.0.0");
  try {
    listener.on("message", (packet, { address }) => {
      const decoded = decodeDhcpReply(packet);
      if (!decoded.ok || offers.length >= OFFERS_MAX) return;
      const link = byTransaction.get(decoded.reply.transactionId);
      if (link !== undefined)
        offers.push({ interfaceName: link.interfaceName, source: ipAddress(address), reply: decoded.reply });
    });
    for (let round = 0; round < 2; round++) {
      for (const [transactionId, link] of byTransaction) await sendQuestion(link, transactionId);
      await clock.sleep(AGAIN_MS, signal);
    }
    await clock.sleep(AGAIN_MS, signal);
  } finally {
    listener.close();
  }
  return offers;
}

/**
 * Bound to the link's own address, the kernel sends the broadcast out there. The socket lives as long as one datagram takes: a DHCP client of the host itself may wait for
 * unicast answers at the same address and port.
 */
async function sendQuestion(link: AskedLink, transactionId: number): Promise<void> {
  const socket = await openSocket(link.address);
  const packet = encodeDhcpQuestion({
    type: "discover",
    transactionId,
    hardwareAddress: QUESTION_HARDWARE_ADDRESS,
    broadcast: true,
    wanted: WANTED,
  });
  try {
    socket.setBroadcast(true);
    await new Promise<void>((resolve, reject) => {
      socket.send(packet, DHCP_SERVER_PORT, EVERYBODY, (error) => (error === null ? resolve() : reject(error)));
    });
  } catch (error) {
    throw failure(link.address, error);
  } finally {
    socket.close();
  }
}

async function openSocket(address: string): Promise<Socket> {
  const socket = createSocket({ type: "udp4", reuseAddr: true });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.bind(DHCP_CLIENT_PORT, address, resolve);
    });
  } catch (error) {
    socket.close();
    throw failure(address, error);
  }
  socket.on("error", () => undefined); // what went wrong with one datagram of somebody else's ends nothing
  return socket;
}

function failure(address: string, error: unknown): EnvironmentError {
  const remedy = "let the agent use UDP port 68 (CAP_NET_BIND_SERVICE), or set dhcpd.foreign_check_seconds to 0";
  return new EnvironmentError("dhcp-question-failed", address, `cannot ask for DHCP servers: ${describeError(error)}`, {
    remedy,
  });
}
