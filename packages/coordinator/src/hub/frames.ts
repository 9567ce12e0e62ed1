import { decode, encode } from "@msgpack/msgpack";
import {
  accepted,
  AGENT_FRAME_LIMITS,
  checkFrame,
  COORDINATOR_FRAME_LIMITS,
  decodeAgentMessage,
  FRAME_CODEC,
  fromWire,
  refused,
  toWire,
  type AgentMessage,
  type CoordinatorMessage,
  type Decoded,
  type DesiredState,
  type Result,
} from "@berth/core";

/** A coordinator's message as octets. */
export function encodeFrame(message: CoordinatorMessage): Uint8Array {
  return encode(toWire(message), FRAME_CODEC.encode);
}

/** Fewer octets than this never hold more items than an agent reads. */
const SURELY_SMALL = 1024 * 1024;

/** A desired state as octets, or why no agent would read them. Long lists are found before anything is built of them. */
export function encodeDesired(state: DesiredState): Result<Uint8Array> {
  const { maxArrayLength } = FRAME_CODEC.decode;
  for (const [what, length] of listLengths(state)) {
    if (length > maxArrayLength) return tooLarge(`${what} has ${length} entries, more than ${maxArrayLength}`);
  }
  const frame = encodeFrame({ type: "desired", state });
  if (frame.length <= SURELY_SMALL) return accepted(frame);
  const problem = checkFrame(frame, COORDINATOR_FRAME_LIMITS);
  return problem === null ? accepted(frame) : tooLarge(problem.message);
}

function* listLengths({ subnets, zones, queryFrom }: DesiredState): Generator<readonly [string, number]> {
  yield ["the list of networks that may ask", queryFrom.length];
  for (const { prefix, hosts, excluded, excludedRanges = [] } of subnets) {
    yield [`the list of machines of subnet ${prefix}`, hosts.length];
    yield [`the list of excluded addresses of subnet ${prefix}`, excluded.length + excludedRanges.length];
  }
  for (const { origin, records, premade } of zones) yield [`zone ${origin}`, records.length + premade.length];
}

function tooLarge(message: string): Result<never> {
  return refused({
    code: "desired-too-large",
    at: "desired",
    message: `what the rack must run is too large to be sent, so it goes on with what it has: ${message}`,
    remedy: "divide the subnets among more racks, or into more sites",
  });
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
