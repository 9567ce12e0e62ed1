/** Crockford's base 32, of which the ids of machines and allocations are made: a letter for the kind, a hyphen, sixteen digits. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";
const DIGIT_COUNT = 16;
const HEAD_LENGTH = 2;

/** The letter, then five bits a digit. */
export const PACKED_ID_LENGTH = 11;

const valueOf = new Int8Array(128).fill(-1);
for (let value = 0; value < DIGITS.length; value++) valueOf[DIGITS.charCodeAt(value)] = value;

const packed = new Uint8Array(PACKED_ID_LENGTH);

/** The id in eleven octets, of which the first is not zero, in memory that the next call uses again; null for a text of another form. */
export function packedIdOf(text: string): Uint8Array | null {
  const kind = text.charCodeAt(0);
  if (text.length !== HEAD_LENGTH + DIGIT_COUNT || text.charCodeAt(1) !== 45 || kind === 0 || kind > 127) return null;
  packed[0] = kind;
  let bits = 0;
  let width = 0;
  let at = 1;
  for (let i = HEAD_LENGTH; i < text.length; i++) {
    const value = valueOf[text.charCodeAt(i)] ?? -1;
    if (value < 0) return null;
    bits = (bits << 5) | value;
    width += 5;
    if (width < 8) continue;
    width -= 8;
    packed[at++] = bits >>> width;
    bits &= (1 << width) - 1;
  }
  return packed;
}

const units = new Array<number>(HEAD_LENGTH + DIGIT_COUNT).fill(45);

/** The id that stands there in its packed form. */
export function idFrom(octets: Uint8Array, at: number): string {
  units[0] = octets[at] ?? 0;
  let bits = 0;
  let width = 0;
  let next = at + 1;
  for (let digit = 0; digit < DIGIT_COUNT; digit++) {
    if (width < 5) {
      bits = (bits << 8) | (octets[next++] ?? 0);
      width += 8;
    }
    width -= 5;
    units[HEAD_LENGTH + digit] = DIGITS.charCodeAt((bits >>> width) & 31);
    bits &= (1 << width) - 1;
  }
  return String.fromCharCode.apply(null, units);
}
