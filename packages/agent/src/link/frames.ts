import { decode, encode } from "@msgpack/msgpack";
import {
  checkFrame,
  COORDINATOR_FRAME_LIMITS,
  decodeCoordinatorMessage,
  FRAME_CODEC,
  fromWire,
  toWire,
  type AgentMessage,
  type CoordinatorMessage,
  type Decoded,
} from "@berth/core";

/** An agent's message as octets. */
export function encodeFrame(message: AgentMessage): Uint8Array {
  return encode(toWire(message), FRAME_CODEC.encode);
}

/** A coordinator's frame, checked octet by octet before anything is built from it. */
export function decodeFrame(frame: Uint8Array): Decoded<CoordinatorMessage> {
  const problem = checkFrame(frame, COORDINATOR_FRAME_LIMITS);
  if (problem !== null) return { kind: "invalid", type: "", sequence: null, problems: [problem] };
  try {
    return decodeCoordinatorMessage(fromWire(decode(frame, FRAME_CODEC.decode)));
  } catch (error) {
    const message = error instanceof Error ? error.message.slice(0, 200) : "unreadable";
    return { kind: "invalid", type: "", sequence: null, problems: [{ code: "frame-unreadable", at: "frame", message }] };
  }
}
