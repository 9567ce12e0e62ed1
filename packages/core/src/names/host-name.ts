import { parseIpAddress, type IpAddress } from "../address/ip.js";
import type { Problem } from "../problem.js";
import { parsePremade } from "./premade.js";

/** RFC 1035 §2.3.4: octets of a label, and of a name without its final dot. */
const LABEL_MAX = 63;
const NAME_MAX = 253;

/** Letters, digits, hyphen, in lower case, no hyphen at either end (RFC 1123 §2.1). */
const LDH = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** Names that resolvers answer by themselves (RFC 6761 §6.3 and /etc/hosts of every distribution): useless and harmful in a zone. */
const NEVER = new Set(["localhost", "localhost4", "localhost6", "ip6-localhost", "ip6-loopback", "broadcasthost"]);

/** Lower case and no final dot: the one form in which names are stored and compared (RFC 4343). */
export function foldName(text: string): string {
  const folded = text.toLowerCase();
  return folded.endsWith(".") && folded.length > 1 ? folded.slice(0, -1) : folded;
}

/** All that is wrong with one label of a host name, in folded form. Digits only is allowed: RFC 1123 §2.1 says so. */
export function checkLabel(label: string, at = "name"): Problem[] {
  const shown = printable(label);
  if (label === "") return [{ code: "label-empty", at, message: "a label is empty", remedy: "remove the extra dot" }];
  if (label.length > LABEL_MAX)
    return [{ code: "label-too-long", at, message: `'${shown}' has more than ${LABEL_MAX} characters`, remedy: "shorten it" }];
  if (/[^\x00-\x7f]/.test(label)) {
    return [
      { code: "label-not-ascii", at, message: `'${shown}' has letters outside ASCII`, remedy: "write its A-label (xn--...)" },
    ];
  }
  if (!LDH.test(label)) {
    return [
      {
        code: "label-characters",
        at,
        message: `'${shown}' is not made of letters, digits and inner hyphens`,
        remedy: "use a-z, 0-9 and hyphens, with a letter or digit at both ends",
      },
    ];
  }
  // RFC 5890 §2.3.1: hyphens in third and fourth place announce an encoding, and only xn-- is one.
  if (label.slice(2, 4) === "--" && !/^xn--./.test(label)) {
    return [
      {
        code: "label-reserved-hyphens",
        at,
        message: `'${shown}' has hyphens in third and fourth place`,
        remedy: "only A-labels (xn--...) may",
      },
    ];
  }
  return [];
}

/**
 * All that is wrong with a host name of one or more labels, in folded form (RFC 1123 §2.1, RFC 952). A name that reads as an IP
 * address is refused: programs would take it for one.
 */
export function checkHostName(name: string, at = "name"): Problem[] {
  if (isPlainHostName(name)) return [];
  const shown = printable(name);
  if (name.length > NAME_MAX)
    return [{ code: "name-too-long", at, message: `'${shown}' has more than ${NAME_MAX} characters`, remedy: "shorten it" }];
  if (parseIpAddress(name) !== null || looksLikeIpv4(name))
    return [{ code: "name-is-address", at, message: `'${shown}' reads as an IP address`, remedy: "choose a name" }];
  const labels = name.split(".");
  const problems = labels.flatMap((label) => checkLabel(label, at));
  if (NEVER.has(labels[0] ?? "")) {
    problems.push({
      code: "name-reserved",
      at,
      message: `'${shown}' always means the asking host`,
      remedy: "choose another name",
    });
  }
  return problems;
}

/** Whether {@link checkHostName} finds nothing. */
export function isHostName(name: string): boolean {
  return isPlainHostName(name) || checkHostName(name).length === 0;
}

const [HYPHEN, DOT] = [0x2d, 0x2e];
const NEVER_SHORTEST = Math.min(...[...NEVER].map((name) => name.length));

/** Labels that begin with a letter, single inner hyphens only: nearly all names there are, told by one look at each character. */
function isPlainHostName(name: string): boolean {
  if (name.length > LABEL_MAX) return false;
  let first = name.length;
  let before = DOT;
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code < 0x61 || code > 0x7a) {
      if (code === DOT && first === name.length) first = at;
      const isDigit = code >= 0x30 && code <= 0x39;
      if (before === DOT || (!isDigit && (before === HYPHEN || (code !== HYPHEN && code !== DOT)))) return false;
    }
    before = code;
  }
  if (before === DOT || before === HYPHEN) return false;
  return first < NEVER_SHORTEST || !NEVER.has(name.slice(0, first));
}

/**
 * The same for a name that a person chose for an address: it may not be the pre-made name of another address, because that name
 * answers already.
 */
export function checkChosenName(name: string, address: IpAddress, at = "name"): Problem[] {
  const problems = checkHostName(name, at);
  const premade = parsePremade(name.split(".")[0] ?? "");
  if (premade !== null && premade !== address) {
    problems.push({
      code: "name-premade-of-other",
      at,
      message: `'${printable(name)}' is the pre-made name of ${premade}`,
      remedy: `choose another name, or the address ${premade}`,
    });
  }
  return problems;
}

/** `192.0.2.9`, also with a domain behind it, and what inet_aton would take for an address: dotted numbers alone (RFC 1123 §2.1). */
function looksLikeIpv4(name: string): boolean {
  if (parseIpAddress(name.split(".", 4).join(".")) !== null) return true;
  return /^(?:\d+|0x[0-9a-f]+)(?:\.(?:\d+|0x[0-9a-f]*)){1,3}$/i.test(name);
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 80);
}
