import { isEthernet } from "../address/hardware.js";
import type { DesiredHost } from "../desired/schema.js";
import { assert } from "../problem.js";
import type { AsciiText } from "../text/ascii-text.js";
import { declarationName, type HostGroup } from "./config.js";
import {
  addStatements,
  BARE_CHARACTERS,
  block,
  plain,
  printedForm,
  TEXT_CHARACTERS,
  type Statement,
  type Word,
} from "./statement.js";

/**
 * Adds the declarations of a group, each put together from a printed form; what does not fit into it is printed as a statement. `onEnd` is told the size of
 * the text after each.
 */
export function addHosts(
  text: AsciiText,
  group: HostGroup,
  onEnd: (place: number, size: number) => void = () => undefined,
): void {
  if (group.hosts.length === 0) return;
  const form = new HostForm(group);
  let place = 0;
  for (const host of group.hosts) {
    const { size } = text;
    if (!form.add(text, host)) {
      text.cutTo(size);
      addStatements(text, [hostStatement(host, group)]);
    }
    onEnd(place++, text.size);
  }
}

/** One host of a group as a statement. */
export function hostStatement(host: DesiredHost, { subnetId, domain }: Pick<HostGroup, "subnetId" | "domain">): Statement {
  const { hardwareAddress, address, name } = host;
  const dot = name.indexOf(".");
  const own = dot < 0 ? domain : name.slice(dot + 1);
  return hostBlock({
    name: declarationName(subnetId, hardwareAddress),
    // IPoIB has 20 octets, which only `infiniband` may hold: after `ethernet` dhcpd takes them and never matches (RFC 4390).
    type: isEthernet(hardwareAddress) ? "ethernet" : "infiniband",
    hardwareAddress,
    address,
    // What the machine is told it is called: the first label of its name.
    hostName: { text: dot < 0 ? name : name.slice(0, dot) },
    domainName: own === domain ? null : { text: own },
  });
}

interface HostWords {
  readonly name: Word;
  readonly type: "ethernet" | "infiniband";
  readonly hardwareAddress: Word;
  readonly address: Word;
  readonly hostName: Word;
  /** Null: the subnet's. */
  readonly domainName: Word | null;
}

function hostBlock({ name, type, hardwareAddress, address, hostName, domainName }: HostWords): Statement {
  return block(
    ["host", name],
    [
      plain("hardware", type, hardwareAddress),
      plain("fixed-address", address),
      plain("option", "host-name", hostName),
      ...(domainName === null ? [] : [plain("option", "domain-name", domainName)]),
    ],
  );
}

const COLON = ":".charCodeAt(0);

/** What is printed around the words of each Ethernet host of a group. */
class HostForm {
  readonly #prefix: string;
  readonly #domain: string;
  readonly #own = formOf(false);
  readonly #foreign = formOf(true);

  constructor({ subnetId, domain }: HostGroup) {
    this.#prefix = declarationName(subnetId, "");
    this.#domain = domain;
  }

  /** Answers false, with some of it added, for a host that does not fit. */
  add(text: AsciiText, { hardwareAddress, address, name }: DesiredHost): boolean {
    if (!isEthernet(hardwareAddress) || address.length === 0) return false;
    const dot = name.indexOf(".");
    const isForeign = dot >= 0 && !this.#isOwn(name, dot + 1);
    const form = isForeign ? this.#foreign : this.#own;
    text.addOctets(form.name);
    text.add(this.#prefix);
    if (!text.addWithout(hardwareAddress, COLON, BARE_CHARACTERS)) return false;
    text.addOctets(form.hardwareAddress);
    if (!text.addOnly(hardwareAddress, BARE_CHARACTERS)) return false;
    text.addOctets(form.address);
    if (!text.addOnly(address, BARE_CHARACTERS)) return false;
    text.addOctets(form.hostName);
    if (!text.addOnly(name, TEXT_CHARACTERS, dot < 0 ? name.length : dot)) return false;
    if (isForeign) {
      text.addOctets(form.domainName);
      if (!text.addOnly(name.slice(dot + 1), TEXT_CHARACTERS)) return false;
    }
    text.addOctets(form.end);
    return true;
  }

  #isOwn(name: string, from: number): boolean {
    return name.length - from === this.#domain.length && name.endsWith(this.#domain);
  }
}

/** Pieces by what they stand before. */
interface Pieces {
  readonly name: Uint8Array;
  readonly hardwareAddress: Uint8Array;
  readonly address: Uint8Array;
  readonly hostName: Uint8Array;
  readonly domainName: Uint8Array;
  readonly end: Uint8Array;
}

function formOf(withDomain: boolean): Pieces {
  const [word, text]: [Word, Word] = [{ open: "word" }, { open: "text" }];
  const words = { name: word, type: "ethernet", hardwareAddress: word, address: word, hostName: text } as const;
  const [name, hardwareAddress, address, hostName, ...rest] = printedForm(
    hostBlock({ ...words, domainName: withDomain ? text : null }),
  );
  const [domainName, end] = [rest[0], rest.at(-1)];
  assert(
    name !== undefined && hardwareAddress !== undefined && address !== undefined && hostName !== undefined,
    "the form of a host has too few places",
  );
  assert(domainName !== undefined && end !== undefined, "the form of a host has no end");
  return { name, hardwareAddress, address, hostName, domainName, end };
}
