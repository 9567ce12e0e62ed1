import type { Problem } from "../problem.js";
import type { RowCollector } from "./collect-rows.js";
import type { ConfWord } from "./conf-statements.js";
import { shownText } from "./import-row.js";

/** One `host` declaration as it stands in the file. */
export interface HostText {
  readonly at: string;
  readonly declaredName: string;
  readonly nics: string[];
  readonly addresses: string[];
  hostName: string | null;
  deleted: boolean;
  /** `ignore booting` or `deny booting`: it names a client that gets nothing. */
  turnedAway: boolean;
}

/** Hardware types of dhcpd.conf(5) whose address a NIC has. */
const HARDWARE_TYPES: ReadonlySet<string> = new Set(["ethernet", "infiniband", "token-ring", "fddi"]);

export function newHost(words: readonly ConfWord[], at: string): HostText {
  return { at, declaredName: words[1]?.text ?? "", nics: [], addresses: [], hostName: null, deleted: false, turnedAway: false };
}

/** Answers whether the statement says something about the machine. */
export function readHostStatement(host: HostText, words: readonly ConfWord[]): boolean {
  switch (keywordOf(words[0])) {
    case "hardware":
      if (!HARDWARE_TYPES.has(keywordOf(words[1]))) return false;
      host.nics.push(words[2]?.text ?? "");
      return true;
    case "fixed-address":
    case "fixed-address6":
      host.addresses.push(...words.slice(1).flatMap(({ text }) => (text === "," ? [] : [text])));
      return true;
    case "option":
      if (keywordOf(words[1]) !== "host-name" || words[2] === undefined) return false;
      host.hostName = words[2].text;
      return true;
    case "ignore":
    case "deny":
      if (keywordOf(words[1]) !== "booting") return false;
      host.turnedAway = true;
      return true;
    case "host-identifier": {
      const nic = keywordOf(words[2]) === "dhcp6.client-id" ? duidHardware(words[3]?.text ?? "") : null;
      if (nic === null) return false;
      if (!host.nics.includes(nic)) host.nics.push(nic);
      return true;
    }
    case "dynamic":
      return true;
    case "deleted":
      host.deleted = true;
      return true;
    default:
      return false;
  }
}

/** Adds the rows of hosts that are machines, up to the limit of one import. */
export function addHosts(collector: RowCollector, hosts: readonly HostText[]): void {
  for (const { addresses, at, declaredName, hostName, nics } of hosts) {
    if (collector.isFull) return collector.refuseRest(at);
    const known = { at, nics, name: hostName ?? declaredName, subnet: null };
    if (nics.length === 0) collector.refusals.push(withoutHardware(at, declaredName));
    else for (const address of addresses.length === 0 ? [null] : addresses) collector.add({ ...known, address });
  }
}

export function turnedAway({ at, declaredName }: HostText): Problem {
  return { code: "host-turned-away", at, message: `host ${shownText(declaredName)} names a client that dhcpd must not answer` };
}

function withoutHardware(at: string, name: string): Problem {
  return {
    code: "host-without-hardware",
    at,
    message: `host ${shownText(name)} is known by something else than a hardware address`,
    remedy: "add `hardware ethernet`, or enroll the machine by its NIC",
  };
}

/** The Ethernet address in a DUID-LLT or DUID-LL, RFC 8415 §11.2 and §11.4; other kinds have none. */
function duidHardware(text: string): string | null {
  const octets = text.split(":").map((octet) => (/^[0-9a-f]{1,2}$/i.test(octet) ? octet.padStart(2, "0").toLowerCase() : ""));
  if (octets.includes("")) return null;
  const head = octets.slice(0, 4).join("");
  const hardware = octets.slice(head === DUID_LLT ? 8 : 4);
  return (head === DUID_LLT || head === DUID_LL) && hardware.length === 6 ? hardware.join(":") : null;
}

const DUID_LLT = "00010001";
const DUID_LL = "00030001";

/** Keywords have no case; a quoted word is none. */
export function keywordOf(word: ConfWord | undefined): string {
  return word === undefined || word.quoted ? "" : word.text.toLowerCase();
}
