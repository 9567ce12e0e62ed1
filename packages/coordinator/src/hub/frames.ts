import { decode, encode } from "@msgpack/msgpack";
import {
  AGENT_FRAME_LIMITS,
  checkFrame,
  decodeAgentMessage,
  FRAME_CODEC,
  fromWire,
  toWire,
  type AgentMessage,
  type CoordinatorMessage,
  type Decoded,
} from "@berth/core";

/** A coordinator's message as octets. */
export function encodeFrame(message: CoordinatorMessage): Uint8Array {
  return encode(toWire(message), FRAME_CODEC.encode);
}

/** An agent's frame, checked octet by octet before anything is built from it. */
export function decodeFrame(frame: Uint8Array): Decoded<AgentMessage> {
  const problem = checkFrame(frame, AGENT_FRAME_LIMITS);
  if (problem !== null) return { kind: "invalid", type: "", sequence: null, problems: [problem] };
  try {
    return decodeAgentMessage(fromWire(decode(frame, FRAME_CODEC.decode)));
  } catch (error) {
    const message = error instanceof Error ? error.message.slice(0, 200) : "unreadable";
    return { kind: "invalid", type: "", sequence: null, problems: [{ code: "frame-unreadable", at: "frame", message }] };
  }
}
