/** Parameters of Punycode for domain names (RFC 3492 §5). */
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const BIAS_FIRST = 72;
const CODE_FIRST = 128;
const LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Letters, marks and digits of left-to-right scripts (RFC 5892 §2.1); right-to-left ones have rules of their own (RFC 5893). */
const PLAIN = /^[\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}-]+$/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const LABEL_CODE_POINTS_MAX = 63;

/**
 * A name with every label that has letters outside ASCII written as its A-label, `bücher` as `xn--bcher-kva` (RFC 5890 §2.3.2.1), after lower case
 * and composition (RFC 5895 §2). A label that is not safely one stays as it is, for the name's own checks to refuse.
 */
export function toALabels(name: string): string {
  return /[^\x00-\x7f]/.test(name) ? name.split(".").map(aLabelOf).join(".") : name;
}

function aLabelOf(label: string): string {
  if (/^[\x00-\x7f]*$/.test(label)) return label;
  const mapped = label.toLowerCase().normalize("NFC");
  const codes = Array.from(mapped, (letter) => letter.codePointAt(0) ?? 0);
  const stable = mapped.normalize("NFKC") === mapped; // RFC 5892 §2.2: what compatibility would change is not allowed
  const shaped = !mapped.startsWith("-") && !mapped.endsWith("-") && mapped.slice(2, 4) !== "--" && !/^\p{M}/u.test(mapped);
  if (!stable || !shaped || !PLAIN.test(mapped) || RIGHT_TO_LEFT.test(mapped)) return label;
  return codes.length > LABEL_CODE_POINTS_MAX ? label : `xn--${encode(codes)}`;
}

/** RFC 3492 §6.3. */
function encode(codes: readonly number[]): string {
  const basic = codes.filter((code) => code < CODE_FIRST);
  let output = basic.map((code) => String.fromCharCode(code)).join("");
  if (basic.length > 0) output += "-";
  let handled = basic.length;
  let bias = BIAS_FIRST;
  let delta = 0;
  for (let code = CODE_FIRST; handled < codes.length; code++) {
    const next = Math.min(...codes.filter((other) => other >= code));
    delta += (next - code) * (handled + 1);
    code = next;
    for (const other of codes) {
      if (other < code) delta += 1;
      if (other !== code) continue;
      output += digits(delta, bias);
      bias = adapt(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled += 1;
    }
    delta += 1;
  }
  return output;
}

function digits(delta: number, bias: number): string {
  let text = "";
  let rest = delta;
  for (let k = BASE; ; k += BASE) {
    const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
    if (rest < threshold) return text + (LETTERS[rest] ?? "");
    text += LETTERS[threshold + ((rest - threshold) % (BASE - threshold))] ?? "";
    rest = Math.floor((rest - threshold) / (BASE - threshold));
  }
}

/** RFC 3492 §6.1. */
function adapt(delta: number, points: number, first: boolean): number {
  let rest = first ? Math.floor(delta / DAMP) : delta >> 1;
  rest += Math.floor(rest / points);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) >> 1; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
