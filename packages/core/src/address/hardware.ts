/** A hardware address in canonical text: lower-case, two digits an octet, colons. 6 octets for Ethernet, 20 for IPoIB, 1 to 20 otherwise. */
export type HardwareAddress = string & { readonly brand: "HardwareAddress" };

/** As nearly every program writes it, which is as it is kept. */
const CANONICAL = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;

/** Octets that a DHCP `chaddr` plus its client identifier can carry, and what the kernel reports for IPoIB. */
const MAX_OCTETS = 20;

/**
 * Reads every usual spelling: `02:00:5E:0a:1:2`, `02-00-5e-0a-01-02`, `0200.5e0a.0102`, `02005e0a0102`.
 * Answers null for anything else.
 */
export function parseHardwareAddress(text: string): HardwareAddress | null {
  if (CANONICAL.test(text)) return text as HardwareAddress;
  const octets = splitOctets(text.trim());
  if (octets === null || octets.length < 1 || octets.length > MAX_OCTETS) return null;
  return octets.map((octet) => octet.padStart(2, "0").toLowerCase()).join(":") as HardwareAddress;
}

function splitOctets(text: string): string[] | null {
  if (text.length > MAX_OCTETS * 3) return null;
  if (/^[0-9a-f]{1,2}(:[0-9a-f]{1,2})+$/i.test(text)) return text.split(":");
  if (/^[0-9a-f]{1,2}(-[0-9a-f]{1,2})+$/i.test(text)) return text.split("-");
  if (/^[0-9a-f]{4}(\.[0-9a-f]{4})+$/i.test(text)) return pairs(text.replaceAll(".", ""));
  if (/^([0-9a-f]{2}){6}$|^([0-9a-f]{2}){20}$/i.test(text)) return pairs(text);
  return null;
}

function pairs(hex: string): string[] {
  return hex.match(/../g) ?? [];
}

export function hardwareOctets(address: HardwareAddress): Uint8Array {
  const octets = new Uint8Array((address.length + 1) / 3);
  for (let i = 0; i < octets.length; i++) octets[i] = digitAt(address, i * 3) * 16 + digitAt(address, i * 3 + 1);
  return octets;
}

/** Of canonical text: a digit or a small letter. */
function digitAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit - (unit > 96 ? 87 : 48);
}

/** Six octets: what Ethernet and everything that imitates it has. */
export function isEthernet(address: HardwareAddress): boolean {
  return address.length === 17;
}
