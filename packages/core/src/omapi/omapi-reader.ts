import { accepted, refused, type Result } from "../problem.js";
import {
  OMAPI_HELLO,
  OMAPI_MESSAGE_BYTES_MAX,
  OMAPI_SIGNATURE_BYTES,
  OMAPI_VALUES_MAX,
  readOmapiText,
  type OmapiMessage,
  type OmapiSign,
} from "./message.js";

const HELLO_BYTES = 8;
const HEADER_BYTES = 24;

/**
 * Reads what a server says, in any chunking: first its hello, then messages. Everything has a limit, nothing is believed before its signature was
 * checked, and after the first refusal nothing more is read.
 */
export class OmapiReader {
  private readonly sign: OmapiSign;
  /** Handle that every message must be signed by from now on; 0 while none was agreed. */
  private authenticator = 0;
  private buffer = new Uint8Array(0);
  private greeted = false;

  constructor(sign: OmapiSign) {
    this.sign = sign;
  }

  /** From now on only messages signed under this handle are taken. */
  require(authenticator: number): void {
    this.authenticator = authenticator;
  }

  push(octets: Uint8Array): void {
    const joined = new Uint8Array(this.buffer.length + octets.length);
    joined.set(this.buffer);
    joined.set(octets, this.buffer.length);
    this.buffer = joined;
  }

  /** The next whole message; null while it is not all there. Refuses `omapi-garbled` and `omapi-forged`. */
  next(): Result<OmapiMessage | null> {
    if (!this.greeted) {
      const greeting = this.readHello();
      if (!greeting.ok || !greeting.value) return greeting.ok ? accepted(null) : greeting;
    }
    const cursor = new Cursor(this.buffer);
    const read = readMessage(cursor);
    if (read === "unfinished") {
      return this.buffer.length > OMAPI_MESSAGE_BYTES_MAX ? garbled("a message is larger than 64 KiB") : accepted(null);
    }
    if (typeof read === "string") return garbled(read);
    const forged = this.checkSignature(read.message, read.signature, this.buffer.subarray(4, read.plainEnd));
    if (forged !== null) return refused({ code: "omapi-forged", at: "omapi", message: forged });
    this.buffer = this.buffer.slice(cursor.at);
    return accepted(read.message);
  }

  private readHello(): Result<boolean> {
    if (this.buffer.length < HELLO_BYTES) return accepted(false);
    const view = new DataView(this.buffer.buffer, this.buffer.byteOffset);
    const [version, headerLength] = [view.getUint32(0), view.getUint32(4)];
    if (version !== OMAPI_HELLO[0] || headerLength !== OMAPI_HELLO[1]) return garbled("it does not speak OMAPI version 100");
    this.greeted = true;
    this.buffer = this.buffer.slice(HELLO_BYTES);
    return accepted(true);
  }

  private checkSignature(message: OmapiMessage, signature: Uint8Array, plain: Uint8Array): string | null {
    if (message.authenticator !== this.authenticator) return "an answer is not signed by the agreed key";
    if (this.authenticator === 0) return null;
    if (signature.length !== OMAPI_SIGNATURE_BYTES) return "an answer has no signature";
    return sameOctets(this.sign(plain), signature) ? null : "the signature of an answer is wrong";
  }
}

interface ReadMessage {
  readonly message: OmapiMessage;
  readonly signature: Uint8Array;
  /** Where the signed part ends. */
  readonly plainEnd: number;
}

/** `unfinished`, or what is wrong with it. */
function readMessage(cursor: Cursor): ReadMessage | string {
  if (!cursor.has(HEADER_BYTES)) return "unfinished";
  const header = Array.from({ length: 6 }, () => cursor.number(4));
  const [authenticator = 0, signatureBytes = 0, operation = 0, handle = 0, transaction = 0, answers = 0] = header;
  if (signatureBytes > OMAPI_SIGNATURE_BYTES) return "a signature is longer than an HMAC-SHA256";
  const message = readValues(cursor);
  if (typeof message === "string") return message;
  const object = readValues(cursor);
  if (typeof object === "string") return object;
  const plainEnd = cursor.at;
  if (!cursor.has(signatureBytes)) return "unfinished";
  const signature = cursor.octets(signatureBytes);
  return { message: { authenticator, operation, handle, transaction, answers, message, object }, signature, plainEnd };
}

function readValues(cursor: Cursor): Map<string, Uint8Array> | string {
  const values = new Map<string, Uint8Array>();
  for (let count = 0; ; count++) {
    if (!cursor.has(2)) return "unfinished";
    const nameLength = cursor.number(2);
    if (nameLength === 0) return values;
    if (nameLength > NAME_BYTES_MAX) return "a name is longer than 255 octets";
    if (count >= OMAPI_VALUES_MAX) return `a message has more than ${OMAPI_VALUES_MAX} values`;
    if (!cursor.has(nameLength + 4)) return "unfinished";
    const name = readOmapiText(cursor.octets(nameLength));
    const length = cursor.number(4);
    if (length > OMAPI_MESSAGE_BYTES_MAX) return "a value is larger than 64 KiB";
    if (!cursor.has(length)) return "unfinished";
    values.set(name, cursor.octets(length));
  }
}

const NAME_BYTES_MAX = 255;

class Cursor {
  at = 0;
  private readonly source: Uint8Array;
  private readonly view: DataView;

  constructor(source: Uint8Array) {
    this.source = source;
    this.view = new DataView(source.buffer, source.byteOffset, source.length);
  }

  has(count: number): boolean {
    return this.at + count <= this.source.length;
  }

  number(bytes: 2 | 4): number {
    const value = bytes === 2 ? this.view.getUint16(this.at) : this.view.getUint32(this.at);
    this.at += bytes;
    return value;
  }

  octets(count: number): Uint8Array {
    this.at += count;
    return this.source.slice(this.at - count, this.at);
  }
}

/** Takes as long for a wrong first octet as for a wrong last one. */
function sameOctets(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index++) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}

function garbled(message: string): ReturnType<typeof refused> {
  return refused({ code: "omapi-garbled", at: "omapi", message, remedy: "look at what listens on dhcpd's omapi-port" });
}
