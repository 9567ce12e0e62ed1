import { closeSync, openSync, writeSync } from "node:fs";

/** What a generated leases file is made of. */
export interface LeasesFileShape {
  readonly path: string;
  readonly blocks: number;
  /** Distinct addresses, from 10.0.0.0 up. */
  readonly addresses: number;
  readonly seed: number;
}

const STARTED = Date.UTC(2026, 10, 1) / 1000;
const PIECE = 8 * 1024 * 1024;

/**
 * Writes the log of a busy server as dhcpd writes it: mostly renewals, now and then an expiry (which drops name and variables) and a new client on a
 * known address. About 340 bytes a block.
 */
export function writeLeasesFile(shape: LeasesFileShape): void {
  const random = createRandom(shape.seed);
  const clients = new Int32Array(shape.addresses);
  const file = openSync(shape.path, "w");
  let piece = `# The format of this file is documented in the dhcpd.leases(5) manual page.\nauthoring-byte-order little-endian;\n\n`;
  for (let block = 0; block < shape.blocks; block++) {
    // Every address appears at least once, and then at random.
    const address = block < shape.addresses ? (block * 40_503) % shape.addresses : random(shape.addresses);
    const event = random(100);
    if (event < 5 || clients[address] === 0) clients[address] = 1 + random(0x7ffffffe);
    piece += leaseBlock(address, clients[address] ?? 1, { second: STARTED + Math.floor(block / 25), expired: event >= 92 });
    if (piece.length >= PIECE) {
      writeSync(file, piece, null, "latin1");
      piece = "";
    }
  }
  writeSync(file, piece, null, "latin1");
  closeSync(file);
}

function leaseBlock(
  address: number,
  client: number,
  { second, expired }: { readonly second: number; readonly expired: boolean },
): string {
  const ip = `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`;
  const octets = [2, (client >> 24) & 255, (client >> 16) & 255, (client >> 8) & 255, client & 255, address & 255];
  const mac = octets.map((octet) => octet.toString(16).padStart(2, "0")).join(":");
  const uid = [1, ...octets].map(escaped).join("");
  const times = `  starts ${date(second)};\n  ends ${date(second + 3600)};\n`;
  if (expired) {
    return `lease ${ip} {\n${times}  tstp ${date(second + 3600)};\n  cltt ${date(second)};\n  binding state free;\n  hardware ethernet ${mac};\n  uid "${uid}";\n}\n`;
  }
  const states = "  binding state active;\n  next binding state free;\n  rewind binding state free;\n";
  const claims = `  set vendor-class-identifier = "MSFT 5.0";\n  client-hostname "node-${client.toString(36)}";\n`;
  return `lease ${ip} {\n${times}  cltt ${date(second)};\n${states}  hardware ethernet ${mac};\n  uid "${uid}";\n${claims}}\n`;
}

/** As dhcpd prints option 61: printable characters as they are, the others as three octal digits. */
function escaped(octet: number): string {
  const plain = octet >= 0x20 && octet < 0x7f && octet !== 0x22 && octet !== 0x5c;
  return plain
    ? String.fromCharCode(octet)
    : octet === 0x22 || octet === 0x5c
      ? `\\${String.fromCharCode(octet)}`
      : `\\${octet.toString(8).padStart(3, "0")}`;
}

let day = { number: -1, text: "" };
function date(second: number): string {
  const number = Math.floor(second / 86_400);
  if (day.number !== number) {
    const at = new Date(number * 86_400_000);
    day = { number, text: `${at.getUTCDay()} ${at.toISOString().slice(0, 10).replaceAll("-", "/")}` };
  }
  const rest = second - number * 86_400;
  return `${day.text} ${two(rest / 3600)}:${two((rest / 60) % 60)}:${two(rest % 60)}`;
}

function two(value: number): string {
  const whole = Math.floor(value);
  return whole < 10 ? `0${whole}` : String(whole);
}

/** xorshift32: the same file for the same seed on every machine. */
function createRandom(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
