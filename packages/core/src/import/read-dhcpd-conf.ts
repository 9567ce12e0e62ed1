import type { Problem } from "../problem.js";
import { walkConf, type ConfStatement, type ConfWord } from "./conf-statements.js";
import { RowCollector } from "./collect-rows.js";
import { shownText, type ImportOptions, type ImportReading } from "./import-row.js";
import { sharedAddresses } from "./shared-addresses.js";

export interface DhcpdImportOptions extends ImportOptions {
  /** Names of all files of this import: an `include` of one of them is read in its own turn. */
  readonly given: readonly string[];
}

/** One `host` declaration as it stands in the file. */
interface HostText {
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

/**
 * Machines from the host declarations of a dhcpd.conf(5), in whatever groups, subnets, pools and conditions they stand. `option host-name` wins over the
 * declaration's own name. Hosts that share an address are the NICs of one machine, as in a bond. An `include` is not followed but refused by name,
 * unless the file it names is part of the same import.
 */
export function readDhcpdConf(text: string, options: DhcpdImportOptions): ImportReading {
  const collector = new RowCollector(options);
  const hosts: HostText[] = [];
  const open = new Map<ConfStatement, HostText>();
  walkConf(text, options.file, {
    statement(statement) {
      const at = `${options.file}:${statement.line}`;
      const keyword = keywordOf(statement.words[0]);
      const host = statement.inside.map((block) => open.get(block)).findLast((found) => found !== undefined);
      if (keyword === "include") {
        const problem = foreignInclude(statement, at, options.given);
        if (problem !== null) collector.refusals.push(problem);
      } else if (keyword === "host" && statement.opensBlock) {
        open.set(statement, newHost(statement, at));
      } else if (host !== undefined) {
        readHostStatement(host, statement.words);
      }
    },
    blockEnd(opened) {
      const host = open.get(opened);
      open.delete(opened);
      if (host?.turnedAway === true) collector.skipped.push(turnedAway(host));
      else if (host !== undefined && !host.deleted) hosts.push(host);
    },
    problem: (problem) => collector.refusals.push(problem),
  });
  addHosts(collector, hosts);
  return sharedAddresses(collector.reading());
}

function newHost({ words }: ConfStatement, at: string): HostText {
  return { at, declaredName: words[1]?.text ?? "", nics: [], addresses: [], hostName: null, deleted: false, turnedAway: false };
}

function readHostStatement(host: HostText, words: readonly ConfWord[]): void {
  switch (keywordOf(words[0])) {
    case "hardware":
      if (HARDWARE_TYPES.has(keywordOf(words[1]))) host.nics.push(words[2]?.text ?? "");
      return;
    case "fixed-address":
    case "fixed-address6":
      host.addresses.push(...words.slice(1).flatMap(({ text }) => (text === "," ? [] : [text])));
      return;
    case "option":
      if (keywordOf(words[1]) === "host-name" && words[2] !== undefined) host.hostName = words[2].text;
      return;
    case "ignore":
    case "deny":
      if (keywordOf(words[1]) === "booting") host.turnedAway = true;
      return;
    case "deleted":
      host.deleted = true;
  }
}

function addHosts(collector: RowCollector, hosts: readonly HostText[]): void {
  for (const { addresses, at, declaredName, hostName, nics } of hosts) {
    if (collector.isFull) return collector.refuseRest(at);
    const known = { at, nics, name: hostName ?? declaredName, subnet: null };
    if (nics.length === 0) collector.refusals.push(withoutHardware(at, declaredName));
    else for (const address of addresses.length === 0 ? [null] : addresses) collector.add({ ...known, address });
  }
}

function turnedAway({ at, declaredName }: HostText): Problem {
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

/** dhcpd takes the name of the file as a string or as a word. */
function foreignInclude({ words }: ConfStatement, at: string, given: readonly string[]): Problem | null {
  const path = words[1]?.text ?? "";
  if (given.some((file) => lastPart(file) === lastPart(path))) return null;
  return {
    code: "include-not-given",
    at,
    message: `it includes '${shownText(path)}', which is not part of this import`,
    remedy: "name that file too, behind this one",
  };
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Keywords have no case; a quoted word is none. */
function keywordOf(word: ConfWord | undefined): string {
  return word === undefined || word.quoted ? "" : word.text.toLowerCase();
}
