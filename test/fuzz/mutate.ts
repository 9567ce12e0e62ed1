/** xorshift32: the same numbers for the same seed on every machine. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Bytes that mean something to a lexer of leases files. */
const MARKS = [0x22, 0x5c, 0x7b, 0x7d, 0x3b, 0x23, 0x0a, 0x0d, 0x00, 0x20, 0x3d, 0x2c, 0xff, 0xef];
const WORDS = [
  "lease 192.0.2.1 {",
  "\nlease ",
  "\nhost x {",
  "}",
  '"',
  "\\0",
  "\\",
  "ends never;",
  "binding state active;",
  "\nia-na ",
  "epoch 1",
  "group {",
];

/** Octets that fill a gap: a few thousand of them lead from one of the reader's buffers into the next. */
const FILL = [0x00, 0x0a, 0x20, 0x23, 0x7d, 0x78];
const FILL_MAX = 10_000;

/** A text made of a sample by a handful of changes: bytes overwritten, inserted, removed, pieces doubled, cut or taken from another sample, gaps. */
export function mutate(samples: readonly Uint8Array[], random: (below: number) => number): Uint8Array {
  const pick = (): Uint8Array => samples[random(samples.length)] ?? new Uint8Array();
  let bytes = [...pick()];
  for (let changes = 1 + random(12); changes > 0; changes--) {
    const at = random(bytes.length + 1);
    const length = random(1 + random(200));
    switch (random(40) === 0 ? 7 : random(7)) {
      case 0:
        bytes[at] = MARKS[random(MARKS.length)] ?? 0;
        break;
      case 1:
        bytes[at] = random(256);
        break;
      case 2:
        bytes.splice(at, length);
        break;
      case 3:
        bytes.splice(at, 0, ...bytes.slice(at, at + length));
        break;
      case 4:
        bytes.splice(at, 0, ...Buffer.from(WORDS[random(WORDS.length)] ?? "", "latin1"));
        break;
      case 5:
        bytes.splice(at, 0, ...pick().subarray(0, length * 10));
        break;
      case 7:
        bytes.splice(random(2) === 0 ? at : behindBlock(bytes, at), 0, ...gap(random));
        break;
      default:
        bytes = bytes.slice(0, Math.max(1, at));
    }
  }
  return Uint8Array.from(bytes, (octet) => octet ?? 0);
}

function gap(random: (below: number) => number): number[] {
  const octet = FILL[random(FILL.length)] ?? 0;
  return [...Array.from({ length: random(FILL_MAX) }, () => octet), 0x0a];
}

/** Behind the next closing brace and its newline: in the middle of a block a gap only makes that block a long one. */
function behindBlock(bytes: readonly number[], at: number): number {
  return bytes.indexOf(0x7d, at) + 2;
}
