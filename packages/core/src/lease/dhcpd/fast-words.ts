/** Up to four characters as the little-endian word that `DataView.getInt32(at, true)` answers for them. */
export function wordOf(text: string): number {
  let word = 0;
  for (let i = 0; i < text.length; i++) word |= text.charCodeAt(i) << (8 * i);
  return word;
}
