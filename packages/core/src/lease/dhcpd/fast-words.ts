/** Up to four characters as the little-endian word that `DataView.getInt32(at, true)` answers for them. */
export function wordOf(text: string): number {
  let word = 0;
  for (let i = 0; i < text.length; i++) word |= text.charCodeAt(i) << (8 * i);
  return word;
}

/** Text of a multiple of eight characters as the numbers that `DataView.getFloat64(at, true)` answers for it: eight bytes in one comparison. */
export function doublesOf(text: string): Float64Array {
  const bytes = new DataView(new ArrayBuffer(text.length));
  for (let i = 0; i < text.length; i++) bytes.setUint8(i, text.charCodeAt(i));
  return Float64Array.from({ length: text.length / 8 }, (_, i) => bytes.getFloat64(i * 8, true));
}
