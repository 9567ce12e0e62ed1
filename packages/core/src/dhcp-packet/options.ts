/** Options by code, with the parts of a divided one joined (RFC 3396). */
export type DhcpOptions = ReadonlyMap<number, Uint8Array>;

const PAD = 0;
const END = 255;
const OVERLOAD = 52;
/** Where the fields stand that option 52 lends to options (RFC 2132 §9.3), and their lengths. */
const FILE = { at: 108, octets: 128 };
const SERVER_NAME = { at: 44, octets: 64 };
const OPTIONS_AT = 240;
/** Longest value of one part. */
const PART_MAX = 255;

/** One option as octets: a value of more than 255 octets is divided (RFC 3396 §5). */
export function encodeOption(code: number, value: Uint8Array): number[] {
  const octets: number[] = [];
  let at = 0;
  do {
    const part = value.subarray(at, at + PART_MAX);
    octets.push(code, part.length, ...part);
    at += PART_MAX;
  } while (at < value.length);
  return octets;
}

/**
 * The options of a packet that is at least 240 octets long, those in the overloaded header fields included, in the order RFC 3396 §5 gives: options,
 * file, sname. Null when one runs past its field. A missing end mark is forgiven: no field can be read past its end.
 */
export function decodeOptions(packet: Uint8Array): DhcpOptions | null {
  const parts = new Map<number, Uint8Array[]>();
  if (!collect(packet.subarray(OPTIONS_AT), parts)) return null;
  const overload = parts.get(OVERLOAD)?.[0]?.[0] ?? 0;
  for (const { bit, at, octets } of [
    { bit: 1, ...FILE },
    { bit: 2, ...SERVER_NAME },
  ]) {
    if ((overload & bit) !== 0 && !collect(packet.subarray(at, at + octets), parts)) return null;
  }
  return new Map([...parts].map(([code, list]) => [code, joined(list)]));
}

/** Whether option 52 says that the header's file field holds options, so that it is no file name. */
export function fileFieldIsLent(options: DhcpOptions): boolean {
  return ((options.get(OVERLOAD)?.[0] ?? 0) & 1) !== 0;
}

function collect(field: Uint8Array, parts: Map<number, Uint8Array[]>): boolean {
  for (let at = 0; at < field.length; ) {
    const code = field[at] ?? END;
    if (code === END) return true;
    if (code === PAD) {
      at++;
      continue;
    }
    const length = field[at + 1];
    if (length === undefined || at + 2 + length > field.length) return false;
    const value = field.subarray(at + 2, at + 2 + length);
    const list = parts.get(code);
    if (list === undefined) parts.set(code, [value]);
    else list.push(value);
    at += 2 + length;
  }
  return true;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
