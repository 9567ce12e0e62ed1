import type { Problem } from "../problem.js";
import { DESIRED_FRAME_BYTES_MAX, FRAME_BYTES_MAX } from "./messages.js";

/** What a decoder may spend on one frame. `items` counts every value, nested ones and map keys included. */
export interface FrameLimits {
  readonly bytes: number;
  readonly items: number;
  readonly depth: number;
}

/** From an agent: untrusted beyond its certificate. */
export const AGENT_FRAME_LIMITS: FrameLimits = { bytes: FRAME_BYTES_MAX, items: 1_000_000, depth: 16 };
/** From a coordinator: a whole desired state must fit. */
export const COORDINATOR_FRAME_LIMITS: FrameLimits = { bytes: DESIRED_FRAME_BYTES_MAX, items: 8_000_000, depth: 16 };

/** How both ends set `@msgpack/msgpack`; the limits that it lacks are {@link checkFrame}'s. */
export const FRAME_CODEC = {
  encode: { useBigInt64: true, ignoreUndefined: true, maxDepth: 16 },
  decode: {
    useBigInt64: true,
    maxStrLength: 65_536,
    maxBinLength: 64,
    maxArrayLength: 1_000_000,
    maxMapLength: 64,
    maxExtLength: 0,
  },
} as const;

/**
 * Steps over a msgpack frame (msgpack specification, "Formats") without building anything, so that nothing larger than the frame is ever
 * allocated for it: a decoder sets aside memory for every array and map as announced, and a few octets can announce a million items in each of a million
 * nested arrays. Null when the frame is one whole value within the limits.
 */
export function checkFrame(frame: Uint8Array, limits: FrameLimits): Problem | null {
  if (frame.length > limits.bytes) return garbage(`frame of ${frame.length} octets, more than ${limits.bytes}`);
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const open: number[] = [1];
  let items = 0;
  let at = 0;
  for (;;) {
    while (open.length > 0 && open[open.length - 1] === 0) open.pop();
    if (open.length === 0) break;
    if (++items > limits.items) return garbage(`more than ${limits.items} items`);
    open.push((open.pop() ?? 0) - 1);
    const step = stepOver(view, at);
    if (step === null) return garbage(`octet ${at} begins no value or the frame ends inside it`);
    at += step.length;
    if (step.children > 0 && open.push(step.children) > limits.depth) return garbage(`nested deeper than ${limits.depth}`);
  }
  return at === frame.length ? null : garbage(`${frame.length - at} octets after the value`);
}

interface Step {
  /** Octets of the head and, for scalars, of the content. */
  readonly length: number;
  /** Values that follow and belong to it. */
  readonly children: number;
}

function stepOver(view: DataView, at: number): Step | null {
  if (at >= view.byteLength) return null;
  const head = view.getUint8(at);
  const step = headStep(view, at, head);
  return step === null || at + step.length > view.byteLength ? null : step;
}

function headStep(view: DataView, at: number, head: number): Step | null {
  if (head <= 0x7f || head >= 0xe0) return scalar(1); // fixint
  if (head <= 0x8f) return { length: 1, children: (head & 0x0f) * 2 };
  if (head <= 0x9f) return { length: 1, children: head & 0x0f };
  if (head <= 0xbf) return scalar(1 + (head & 0x1f));
  const fixed = FIXED[head];
  if (fixed !== undefined) return scalar(fixed);
  const width = WIDTH[head];
  if (width === undefined || at + 1 + width > view.byteLength) return null;
  const size = width === 1 ? view.getUint8(at + 1) : width === 2 ? view.getUint16(at + 1) : view.getUint32(at + 1);
  if (head <= 0xdb) return scalar(1 + width + size);
  return { length: 1 + width, children: head <= 0xdd ? size : size * 2 };
}

/** Octets of the values of fixed size: nil, booleans, floats, integers. Extensions (0xc7-0xc9, 0xd4-0xd8) are not part of the protocol. */
const FIXED: Readonly<Record<number, number>> = {
  0xc0: 1,
  0xc2: 1,
  0xc3: 1,
  0xca: 5,
  0xcb: 9,
  0xcc: 2,
  0xcd: 3,
  0xce: 5,
  0xcf: 9,
  0xd0: 2,
  0xd1: 3,
  0xd2: 5,
  0xd3: 9,
};

/** Octets of the size field: bin 8-32, str 8-32, array 16-32, map 16-32. */
const WIDTH: Readonly<Record<number, number>> = {
  0xc4: 1,
  0xc5: 2,
  0xc6: 4,
  0xd9: 1,
  0xda: 2,
  0xdb: 4,
  0xdc: 2,
  0xdd: 4,
  0xde: 2,
  0xdf: 4,
};

function scalar(length: number): Step {
  return { length, children: 0 };
}

function garbage(message: string): Problem {
  return { code: "frame-unreadable", at: "frame", message };
}
