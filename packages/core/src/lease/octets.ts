/** Octets as lower-case hex without separators: the form of `uid_hex` and `duid_hex`. */
export function formatHex(octets: Uint8Array): string {
  let text = "";
  for (const octet of octets) text += (octet < 16 ? "0" : "") + octet.toString(16);
  return text;
}

/** Octets as a hardware address in canonical text. */
export function formatColonHex(octets: Uint8Array): string {
  let text = "";
  for (let i = 0; i < octets.length; i++) {
    const octet = octets[i] ?? 0;
    text += (i === 0 ? "" : ":") + (octet < 16 ? "0" : "") + octet.toString(16);
  }
  return text;
}

export function equalOctets(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Bytes of ISO 8859-1 as text: every byte is one character, so nothing can fail. */
export function decodeLatin1(octets: Uint8Array): string {
  let text = "";
  for (let at = 0; at < octets.length; at += 4096) text += String.fromCharCode(...octets.subarray(at, at + 4096));
  return text;
}

/** UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. Null for anything else. */
export function decodeUtf8(octets: Uint8Array): string | null {
  let text = "";
  for (let i = 0; i < octets.length; ) {
    const lead = octets[i] ?? 0;
    const size = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (size === 0 || i + size > octets.length) return null;
    let point = size === 1 ? lead : lead & (0x7f >> size);
    for (let k = 1; k < size; k++) {
      const next = octets[i + k] ?? 0;
      if ((next & 0xc0) !== 0x80) return null;
      point = (point << 6) | (next & 0x3f);
    }
    if ((size === 3 && point < 0x800) || (size === 4 && point < 0x10000)) return null;
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return null;
    text += String.fromCodePoint(point);
    i += size;
  }
  return text;
}

export function encodeUtf8(text: string): Uint8Array {
  const octets: number[] = [];
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point < 0x80) octets.push(point);
    else if (point < 0x800) octets.push(0xc0 | (point >> 6), 0x80 | (point & 63));
    else if (point < 0x10000) octets.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
    else octets.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 63), 0x80 | ((point >> 6) & 63), 0x80 | (point & 63));
  }
  return Uint8Array.from(octets);
}
