import type { Problem } from "../problem.js";
import { RowCollector } from "./collect-rows.js";
import { addHosts, keywordOf, newHost, readHostStatement, turnedAway, type HostText } from "./conf-hosts.js";
import { walkConf, type ConfStatement } from "./conf-statements.js";
import { shownText, type ImportOptions, type ImportReading } from "./import-row.js";
import { sharedAddresses } from "./shared-addresses.js";

export interface DhcpdImportOptions extends ImportOptions {
  /** Names of all files of this import: an `include` of one of them is read in its own turn. */
  readonly given: readonly string[];
}

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
        open.set(statement, newHost(statement.words, at));
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
