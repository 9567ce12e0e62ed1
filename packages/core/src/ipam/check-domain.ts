import type { IpAddress } from "../address/ip.js";
import { prefixContains } from "../address/prefix.js";
import { parsePremade } from "../names/premade.js";
import type { Problem } from "../problem.js";
import type { LedgerState } from "./ledger-state.js";
import type { Subnet } from "./model.js";

/**
 * A domain becomes a zone, and a zone answers for its whole name in place of the zone above it: what that one says of the name, or of those
 * below it, is gone. So no domain may be, or lie below, a name that an address or a machine has.
 */
export function checkDomain(subnet: Subnet, state: LedgerState): Problem[] {
  const problems: Problem[] = [];
  for (const other of state.subnets.values()) {
    if (other.id === subnet.id) continue;
    const hidden = premadeAbove(subnet.domain, other);
    if (hidden !== null)
      problems.push(premadeProblem(`${subnet.domain} hides the pre-made name of ${hidden} in subnet ${other.id}`));
    const hiding = premadeAbove(other.domain, subnet);
    if (hiding !== null)
      problems.push(premadeProblem(`${other.domain} of subnet ${other.id} hides the name that ${hiding} would have`));
  }
  const holder = state.allocationByName.get(subnet.domain);
  if (holder !== undefined) {
    const message = `${subnet.domain} is the name of ${holder.address}`;
    problems.push({ code: "domain-taken", at: "domain", message, remedy: "choose another domain, or rename that machine first" });
  }
  return [...problems, ...checkRecordsInside(subnet, state)];
}

/** An operator's record must not turn into an alias at the top of a zone, nor take the place of a pre-made name. */
function checkRecordsInside({ domain, prefix }: Subnet, state: LedgerState): Problem[] {
  const problems: Problem[] = [];
  for (const { id, name, type, value } of state.records.values()) {
    const label = name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : "";
    const address = parsePremade(label);
    const premade = address !== null && prefixContains(prefix, address);
    if (!premade && (name !== domain || type !== "CNAME")) continue;
    const message = `${name} has the ${type} record ${value} (${id})`;
    problems.push({ code: "domain-taken", at: "domain", message, remedy: `remove it first with \`berth name remove ${id}\`` });
  }
  return problems;
}

/** The subnet whose domain is that name; null when there is none. */
export function subnetNamedSo(name: string, state: LedgerState): Subnet | null {
  const [id] = state.subnetsByDomain.of(name);
  return id === undefined ? null : (state.subnets.get(id) ?? null);
}

/** The address of the subnet whose pre-made name the domain is or lies below; null for none. */
function premadeAbove(domain: string, { domain: parent, prefix }: Subnet): IpAddress | null {
  if (!domain.endsWith(`.${parent}`)) return null;
  const label =
    domain
      .slice(0, -parent.length - 1)
      .split(".")
      .at(-1) ?? "";
  const address = parsePremade(label);
  return address !== null && prefixContains(prefix, address) ? address : null;
}

function premadeProblem(message: string): Problem {
  return { code: "domain-premade-taken", at: "domain", message, remedy: "choose a domain without such a label" };
}
