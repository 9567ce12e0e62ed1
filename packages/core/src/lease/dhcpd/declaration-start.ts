import { isBlank, NEWLINE, QUOTE } from "./tokens.js";

/** The most blanks looked at behind a keyword; real files have one. */
const BLANKS_MAX = 16;

/** What must follow the keyword and its blanks for a line to begin a declaration beyond doubt. */
type Follows = (octet: number) => boolean;

const isDigit: Follows = (octet) => octet >= 0x30 && octet <= 0x39;
const isHexOrQuote: Follows = (octet) => isDigit(octet) || octet === QUOTE || ((octet | 0x20) >= 0x61 && (octet | 0x20) <= 0x66);
const isName: Follows = (octet) =>
  isDigit(octet) || octet === QUOTE || octet === 0x5f || ((octet | 0x20) >= 0x61 && (octet | 0x20) <= 0x7a);

const STARTS: readonly { readonly keyword: string; readonly follows: Follows }[] = [
  { keyword: "lease", follows: isDigit },
  { keyword: "host", follows: isName },
  { keyword: "ia-na", follows: isHexOrQuote },
  { keyword: "ia-ta", follows: isHexOrQuote },
  { keyword: "ia-pd", follows: isHexOrQuote },
  { keyword: "ia_na", follows: isHexOrQuote },
  { keyword: "ia_ta", follows: isHexOrQuote },
  { keyword: "ia_pd", follows: isHexOrQuote },
  { keyword: "failover", follows: (octet) => (octet | 0x20) === 0x70 },
  { keyword: "server-duid", follows: (octet) => isHexOrQuote(octet) || octet === 0x3d },
  { keyword: "authoring-byte-order", follows: isName },
];

export type StartVerdict = "yes" | "no" | "undecided";

/**
 * Whether the line at `at` begins a declaration: the place to go on after damage. Only column 0 counts, and dhcpd never writes a newline into a
 * string or a keyword of the top level into column 0 of a block. `undecided` while the bytes end too early to tell.
 */
export function declarationStartAt(bytes: Uint8Array, at: number, end: number): StartVerdict {
  if (at >= end) return "undecided";
  const first = (bytes[at] ?? 0) | 0x20;
  // Almost every line begins with a blank: decided by its first byte.
  if (first < 0x61 || first > 0x73) return "no";
  let verdict: StartVerdict = "no";
  for (const { keyword, follows } of STARTS) {
    if (first !== keyword.charCodeAt(0)) continue;
    const one = startsWith(bytes, { at, end }, keyword, follows);
    if (one === "yes") return "yes";
    if (one === "undecided") verdict = "undecided";
  }
  return verdict;
}

function startsWith(
  bytes: Uint8Array,
  { at, end }: { at: number; end: number },
  keyword: string,
  follows: Follows,
): StartVerdict {
  for (let i = 0; i < keyword.length; i++) {
    if (at + i >= end) return "undecided";
    const octet = bytes[at + i] ?? 0;
    const lower = octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
    if (lower !== keyword.charCodeAt(i)) return "no";
  }
  const behind = at + keyword.length;
  for (let i = behind; i <= behind + BLANKS_MAX; i++) {
    if (i >= end) return "undecided";
    const octet = bytes[i] ?? 0;
    if (!isBlank(octet)) return (i > behind || octet === 0x3d) && follows(octet) ? "yes" : "no";
    if (octet === NEWLINE) return "no";
  }
  return "no";
}
