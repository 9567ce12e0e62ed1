import { addressBytes, addressFromBytes, parseIpAddress } from "../address/ip.js";

/**
 * A message as it travels: every address in canonical text becomes its 4 or 16 octets. Nothing else on the link is binary, so the way
 * back needs no schema and any text comes back unchanged.
 */
export function toWire(value: unknown): unknown {
  if (typeof value === "string") return wireText(value);
  if (Array.isArray(value)) return value.map(toWire);
  if (value === null || typeof value !== "object") return value;
  const wire: Record<string, unknown> = {};
  for (const key in value) wire[key] = toWire((value as Record<string, unknown>)[key]);
  return wire;
}

/** The inverse of {@link toWire}. Octets of another length stay what they are, for the schema to refuse. Call it on checked frames only. */
export function fromWire(wire: unknown): unknown {
  if (wire === null || typeof wire !== "object") return wire;
  if (wire instanceof Uint8Array) return addressFromBytes(wire) ?? wire;
  if (Array.isArray(wire)) return wire.map(fromWire);
  const value: Record<string, unknown> = {};
  for (const key in wire) value[key] = fromWire((wire as Record<string, unknown>)[key]);
  return value;
}

function wireText(text: string): string | Uint8Array {
  if (!mayBeAddress(text)) return text;
  const address = parseIpAddress(text);
  return address === null || address !== text ? text : addressBytes(address);
}

/** Cheap, because every text of every message comes by: hardware addresses, names and states must not reach the parser. */
function mayBeAddress(text: string): boolean {
  if (text.length < 2 || text.length > 39) return false;
  if (text.includes("::")) return true;
  const colon = text.indexOf(":");
  if (colon > 4) return false;
  if (colon >= 0) return text.split(":").length === 8;
  const first = text.charCodeAt(0);
  return first >= 0x30 && first <= 0x39 && text.includes(".");
}
