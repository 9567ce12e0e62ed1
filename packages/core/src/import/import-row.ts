import { hardwareOctets, parseHardwareAddress, type HardwareAddress } from "../address/hardware.js";
import { parseIpAddress, type IpAddress } from "../address/ip.js";
import { foldName } from "../names/host-name.js";
import { accepted, refused, type Problem, type Result } from "../problem.js";

/** Machines that one import may name; a rack that is larger is imported subnet by subnet. */
export const IMPORT_ROWS_MAX = 50_000;

/** Characters of one import file. */
export const IMPORT_CHARACTERS_MAX = 64 * 1024 * 1024;

/** One static address of one machine, as another system knows it. */
export interface ImportRow {
  /** Where it stands: `machines.csv:12`, or what names it inside a JSON export. */
  readonly at: string;
  /** The first one is the one the address belongs to; several are a bond. */
  readonly nics: readonly HardwareAddress[];
  /** Host part in lower case; null keeps the pre-made name of the address. */
  readonly name: string | null;
  readonly address: IpAddress | null;
  /** Number or prefix; null leaves it to the address or to the rack that sees the machine. */
  readonly subnet: string | null;
}

/** What a reader made of a file. Nothing of it is imported while there are refusals. */
export interface ImportReading {
  readonly rows: readonly ImportRow[];
  /** Every row that cannot be taken; what is wrong with the form of the file comes first. */
  readonly refusals: readonly Problem[];
  /** What was left out on purpose: dynamic, virtual or without an address. */
  readonly skipped: readonly Problem[];
}

export interface ImportOptions {
  /** Name of the file, for the places that problems name. */
  readonly file: string;
  /** Domains of the declared subnets: a name that ends in one of them is cut down to its host part. */
  readonly domains: readonly string[];
}

/** A row as a file spells it. */
export interface RowText {
  readonly at: string;
  readonly nics: readonly string[];
  readonly name: string | null;
  readonly address: string | null;
  readonly subnet: string | null;
}

const SHOWN_CHARACTERS_MAX = 80;
/** Octets of Ethernet, EUI-64 and IPoIB. */
const NIC_OCTETS: ReadonlySet<number> = new Set([6, 8, 20]);

/** Reads the spellings of one row, with every reason against it. An address may carry its prefix length (`10.0.0.5/24`). */
export function readRow(text: RowText, { domains }: Pick<ImportOptions, "domains">): Result<ImportRow> {
  const { at } = text;
  const problems: Problem[] = [];
  const take = <T>(result: Result<T>): T | null => {
    if (result.ok) return result.value;
    problems.push(...result.problems);
    return null;
  };
  const nics = text.nics.flatMap((nic) => take(readNic(nic, at)) ?? []);
  if (text.nics.length === 0)
    problems.push({ code: "nics-missing", at, message: "no hardware address", remedy: "give the one of the NIC it boots from" });
  const address = text.address === null ? null : take(readAddress(text.address, at));
  const name = text.name === null ? null : take(readName(text.name, at, domains));
  return problems.length > 0
    ? refused(...problems)
    : accepted({ at, nics: [...new Set(nics)], name, address, subnet: text.subnet });
}

/** Foreign text for a message: one line, short, plain. */
export function shownText(text: string): string {
  const plain = text.replace(/[^\x20-\x7e]/g, "?");
  return plain.length > SHOWN_CHARACTERS_MAX ? `${plain.slice(0, SHOWN_CHARACTERS_MAX)}...` : plain;
}

function readNic(text: string, at: string): Result<HardwareAddress> {
  const nic = parseHardwareAddress(text);
  if (nic !== null && NIC_OCTETS.has(hardwareOctets(nic).length)) return accepted(nic);
  const message = `'${shownText(text)}' is not a hardware address of 6, 8 or 20 octets`;
  return refused({ code: "nic-malformed", at, message, remedy: "write it as 02:00:5e:00:53:01" });
}

function readAddress(text: string, at: string): Result<IpAddress> {
  const address = parseIpAddress(text.replace(/\/\d{1,3}$/, ""));
  if (address !== null) return accepted(address);
  const message = `'${shownText(text)}' is not an IP address`;
  return refused({ code: "address-malformed", at, message, remedy: "write it as 192.168.50.60" });
}

/** The host part: what the name is without the domain of a declared subnet. */
function readName(text: string, at: string, domains: readonly string[]): Result<string> {
  const name = foldName(text);
  if (!name.includes(".")) return accepted(name);
  const domain = domains.find((known) => name.endsWith(`.${known}`) && !name.slice(0, -known.length - 1).includes("."));
  if (domain !== undefined) return accepted(name.slice(0, -domain.length - 1));
  const message = `'${shownText(text)}' is in the domain of no declared subnet`;
  return refused({
    code: "name-domain-foreign",
    at,
    message,
    remedy: "declare the subnet with that domain first, or give the host part alone",
  });
}
