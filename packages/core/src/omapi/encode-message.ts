import { assert } from "../problem.js";
import { OMAPI_SIGNATURE_BYTES, type OmapiMessage, type OmapiSign, type OmapiValues } from "./message.js";

/** Octets of the fixed part of a message. */
const HEADER_BYTES = 24;

/** A message as it goes on the wire; signed where it names an authenticator. The signature covers everything after the authenticator's handle. */
export function encodeOmapi(message: OmapiMessage, sign: OmapiSign): Uint8Array {
  const signatureBytes = message.authenticator === 0 ? 0 : OMAPI_SIGNATURE_BYTES;
  const plainBytes = HEADER_BYTES + valuesBytes(message.message) + valuesBytes(message.object);
  const octets = new Uint8Array(plainBytes + signatureBytes);
  const view = new DataView(octets.buffer);
  const { authenticator, operation, handle, transaction, answers } = message;
  [authenticator, signatureBytes, operation, handle, transaction, answers].forEach((word, index) =>
    view.setUint32(index * 4, word),
  );
  const next = writeValues(octets, HEADER_BYTES, message.message);
  const end = writeValues(octets, next, message.object);
  assert(end === plainBytes, "an OMAPI message is as long as it was measured");
  if (signatureBytes > 0) octets.set(sign(octets.subarray(4, end)), end);
  return octets;
}

function valuesBytes(values: OmapiValues): number {
  let bytes = 2;
  for (const [name, value] of values) bytes += 2 + name.length + 4 + value.length;
  return bytes;
}

/** Name and value, each behind its length (16 and 32 bits); an empty name ends the list. */
function writeValues(octets: Uint8Array, start: number, values: OmapiValues): number {
  const view = new DataView(octets.buffer);
  let at = start;
  for (const [name, value] of values) {
    assert(name.length > 0 && /^[a-z0-9-]+$/.test(name), "names of OMAPI are lower-case words");
    view.setUint16(at, name.length);
    at += 2;
    for (const character of name) octets[at++] = character.charCodeAt(0);
    view.setUint32(at, value.length);
    octets.set(value, at + 4);
    at += 4 + value.length;
  }
  return at + 2; // the two octets of an empty name are zero already
}
