const PARTS = 8;
const COLON = 58;
const ZERO = 48;
const LETTER = 87;

/** The eight groups of an IPv6 address in canonical text (RFC 5952, no dotted quad): what a parser of every spelling takes ten times as long for. */
export function ipv6Parts(text: string): number[] {
  const parts = [0, 0, 0, 0, 0, 0, 0, 0];
  let count = 0;
  let gap = -1;
  let value = -1;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit !== COLON) {
      value = (value < 0 ? 0 : value * 16) + unit - (unit > 96 ? LETTER : ZERO);
      continue;
    }
    if (value >= 0) parts[count++] = value;
    value = -1;
    if (text.charCodeAt(i + 1) === COLON) gap = count;
  }
  if (value >= 0) parts[count++] = value;
  if (gap < 0) return parts;
  const moved = count - gap;
  parts.copyWithin(PARTS - moved, gap, count);
  parts.fill(0, gap, PARTS - moved);
  return parts;
}

/** The canonical text of eight groups: lower case, the first of the longest runs of two zeros or more left out. */
export function ipv6Text(parts: readonly number[]): string {
  let first = -PARTS;
  let length = 1;
  for (let at = 0; at < PARTS; at++) {
    let end = at;
    while (end < PARTS && parts[end] === 0) end++;
    if (end - at > length) {
      first = at;
      length = end - at;
    }
    if (end > at) at = end;
  }
  const units: number[] = [];
  for (let at = 0; at < PARTS; at++) {
    if (at === first) {
      units.push(COLON, COLON);
      at += length - 1;
    } else {
      if (at > 0 && at !== first + length) units.push(COLON);
      pushHexadecimal(units, parts[at] ?? 0);
    }
  }
  return String.fromCharCode.apply(null, units);
}

const DIGITS = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/** The units of a group of 16 bits without leading zeros. Made into one text at the end: to add up texts takes twice as long. */
export function pushHexadecimal(units: number[], group: number): void {
  if (group > 0xfff) units.push(DIGITS[group >>> 12] ?? ZERO);
  if (group > 0xff) units.push(DIGITS[(group >>> 8) & 15] ?? ZERO);
  if (group > 0xf) units.push(DIGITS[(group >>> 4) & 15] ?? ZERO);
  units.push(DIGITS[group & 15] ?? ZERO);
}
