import type { IncomingMessage } from "node:http";
import { WebSocket, type ClientOptions } from "ws";
import {
  DESIRED_FRAME_BYTES_MAX,
  formatRegionAddress,
  LINK_PATH,
  REGION_URI,
  SUBPROTOCOL,
  type Channel,
  type RegionAddress,
} from "@berth/core";
import { EnvironmentError } from "@berth/host";
import type { Identity } from "../identity/identity.js";
import { createWsChannel } from "./ws-channel.js";

/** Opens one connection to a region. Throws `region-unreachable`, or what the region gave as its reason (`link-refused` when it gave none). */
export type DialRegion = (address: RegionAddress, identity: Identity, signal: AbortSignal) => Promise<Channel>;

const HANDSHAKE_TIMEOUT_MS = 20_000;
const REFUSAL_BYTES_MAX = 4096;

/** The type of ws says boolean, but node:tls, which is asked, wants an error or nothing. */
const REGION_CHECK = {
  checkServerIdentity: (_host: string, certificate: { readonly subjectaltname?: string }) =>
    (certificate.subjectaltname ?? "").includes(`URI:${REGION_URI}`) ? undefined : new Error("not the certificate of a region"),
} as object as ClientOptions;

/** Mutual TLS on the region's CA alone. A region is known by the URI in its certificate; the name or address dialed proves nothing. */
export const dialRegion: DialRegion = (address, identity, signal) =>
  new Promise((resolve, reject) => {
    const at = formatRegionAddress(address);
    const socket = new WebSocket(`wss://${at}${LINK_PATH}`, SUBPROTOCOL, {
      ca: identity.ca,
      key: identity.key,
      cert: identity.certificate,
      minVersion: "TLSv1.3",
      perMessageDeflate: false,
      maxPayload: DESIRED_FRAME_BYTES_MAX,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      followRedirects: false,
      ...REGION_CHECK,
    });
    const abort = (): void => {
      socket.terminate();
    };
    signal.addEventListener("abort", abort, { once: true });
    socket.once("open", () => {
      signal.removeEventListener("abort", abort);
      resolve(createWsChannel(socket));
    });
    socket.on("error", (cause) => {
      signal.removeEventListener("abort", abort);
      reject(unreachable(at, cause));
    });
    socket.once("unexpected-response", (_request, response) => {
      readRefusal(response, at).then(reject, reject).finally(abort);
    });
  });

async function readRefusal(response: IncomingMessage, at: string): Promise<EnvironmentError> {
  let text = "";
  for await (const chunk of response as AsyncIterable<Buffer>) {
    text += chunk.toString("utf8");
    if (text.length > REFUSAL_BYTES_MAX) break;
  }
  try {
    const { problems } = JSON.parse(text) as { problems: { code: string; message: string; remedy?: string }[] };
    const [problem] = problems;
    if (problem !== undefined)
      return new EnvironmentError(problem.code.slice(0, 64), at, `${at} refuses this rack: ${problem.message.slice(0, 512)}`, {
        ...(problem.remedy === undefined ? {} : { remedy: problem.remedy.slice(0, 512) }),
      });
  } catch (cause) {
    return new EnvironmentError("link-refused", at, `${at} answered with status ${response.statusCode ?? 0}`, { cause });
  }
  return new EnvironmentError("link-refused", at, `${at} answered with status ${response.statusCode ?? 0}`);
}

function unreachable(at: string, cause: Error): EnvironmentError {
  return new EnvironmentError("region-unreachable", at, `no link to ${at}`, {
    cause,
    remedy: "the rack goes on with what it has; check the coordinator, the network between and both clocks",
  });
}
