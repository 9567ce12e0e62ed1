import { createSocket } from "node:dgram";
import type { IpAddress } from "@berth/core";
import { decode, encode, type SoaAnswer } from "dns-packet";

const TIMEOUT_MS = 1_000;

/**
 * The serial that a name server serves for a zone, asked over UDP; null when it does not answer or is not authoritative for it. What is
 * served counts: `rndc reload` reports success for a file that was not loaded.
 */
export function askSerial(
  server: { readonly address: IpAddress | string; readonly port: number },
  origin: string,
  id: number,
): Promise<number | null> {
  return new Promise((resolve) => {
    const socket = createSocket({ type: server.address.includes(":") ? "udp6" : "udp4" });
    const finish = (serial: number | null): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      socket.on("error", () => undefined); // late errors of a socket that is being closed say nothing more
      socket.close();
      resolve(serial);
    };
    const timer = setTimeout(() => finish(null), TIMEOUT_MS);
    socket.once("error", () => finish(null));
    socket.on("message", (message) => {
      const serial = serialIn(message, id);
      if (serial !== undefined) finish(serial);
    });
    const query = encode({ type: "query", id, flags: 0, questions: [{ type: "SOA", name: origin, class: "IN" }] });
    socket.send(query, server.port, server.address);
  });
}

/** Undefined: not an answer to our question. */
function serialIn(message: Buffer, id: number): number | null | undefined {
  try {
    const reply = decode(message);
    if (reply.id !== id) return undefined;
    const soa = reply.answers?.find((answer): answer is SoaAnswer => answer.type === "SOA");
    return soa === undefined || reply.flag_aa !== true ? null : soa.data.serial;
  } catch {
    return undefined; // anybody can send a datagram; what does not parse was not meant for us
  }
}
