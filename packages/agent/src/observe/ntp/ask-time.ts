import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { addressFamily, checkNtpAnswer, encodeNtpQuestion, type IpAddress, type NtpRefusal } from "@berth/core";

/** Whether a time server may be offered to machines, and if not, why. */
export type TimeAnswer = { readonly ok: true } | { readonly ok: false; readonly why: NtpRefusal | "no-answer" };

export interface AskTimeOptions {
  readonly timeoutMs?: number;
  readonly port?: number;
}

const NTP_PORT = 123;
const TIMEOUT_MS = 1000;

/**
 * Asks a time server once, as a machine would (SNTP, RFC 4330 §5). A closed port and silence are both `no-answer`; answers to questions that we did
 * not ask are passed over.
 */
export function askTime(server: IpAddress, options: AskTimeOptions = {}): Promise<TimeAnswer> {
  const nonce = new Uint8Array(randomBytes(8));
  const socket = createSocket(addressFamily(server) === 4 ? "udp4" : "udp6");
  return new Promise((resolve) => {
    let finished = false;
    const finish = (answer: TimeAnswer): void => {
      if (finished) return;
      finished = true;
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(() => finish({ ok: false, why: "no-answer" }), options.timeoutMs ?? TIMEOUT_MS);
    socket.on("error", () => finish({ ok: false, why: "no-answer" }));
    socket.on("message", (packet) => {
      const why = checkNtpAnswer(packet, nonce);
      if (why === "not-our-question") return;
      finish(why === null ? { ok: true } : { ok: false, why });
    });
    // Connected, so that the kernel passes on only this server's packets and reports a closed port at once.
    socket.connect(options.port ?? NTP_PORT, server, () => {
      if (!finished) socket.send(encodeNtpQuestion(nonce));
    });
  });
}
