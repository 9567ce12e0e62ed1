import { compareAddresses, type IpAddress, type IpFamily } from "../address/ip.js";
import { prefixAround } from "../address/prefix.js";
import type { Problem } from "../problem.js";
import type { HostInterface, InterfaceAddress } from "./model.js";
import { familyOf, hasFlag, isDynamic, isUp, mergeByAddress, type AddressVerdict } from "./verdict.js";

/** One real address that may be given to machines as a server. */
export interface Published {
  readonly verdict: AddressVerdict;
  readonly interfaceIndex: number;
}

/**
 * The addresses by which others may reach this host, IPv4 first, then by interface and number: `real`, not temporary (RFC 8981), tentative or
 * dadfailed (RFC 4862), on a link that is up. Down ones only where none is up; a leased one not while a static one stands in its prefix; a
 * deprecated one not while another exists.
 */
export function publishAddresses(
  interfaces: readonly HostInterface[],
  verdicts: readonly AddressVerdict[],
): readonly Published[] {
  const links = new Map(interfaces.map((entry) => [entry.name, entry]));
  const usable = [...mergeByAddress(verdicts).values()].filter(
    ({ class: kind, observed }) => kind === "real" && isSettled(observed),
  );
  const published = ([4, 6] as const satisfies readonly IpFamily[]).flatMap((family) => {
    const own = usable.filter(({ observed }) => familyOf(observed) === family);
    const up = preferring(own, ({ interfaceName }) => isUpByName(links, interfaceName));
    const current = preferring(up, ({ observed }) => !hasFlag(observed, "deprecated"));
    return current.filter((verdict) => !isDynamic(verdict.observed) || !hasStaticSibling(verdict, current));
  });
  return published
    .map((verdict) => ({ verdict, interfaceIndex: links.get(verdict.interfaceName)?.index ?? Infinity }))
    .sort(byPlace);
}

/** What an operator must know of the addresses themselves, whatever they were judged to be. */
export function checkAddresses(published: readonly Published[], verdicts: readonly AddressVerdict[]): readonly Problem[] {
  const problems: Problem[] = [];
  for (const { observed, interfaceName } of verdicts) {
    if (!hasFlag(observed, "dadfailed")) continue;
    problems.push({
      code: "address-dadfailed",
      at: interfaceName,
      message: `${observed.address} failed duplicate address detection: somebody else on the link has it`,
      remedy: "find the other holder or give this host another address",
    });
  }
  for (const { verdict } of published) {
    if (!hasFlag(verdict.observed, "deprecated")) continue;
    problems.push({
      code: "only-deprecated",
      at: verdict.interfaceName,
      message: `${verdict.observed.address} is deprecated and published all the same: there is no other real IPv${familyOf(verdict.observed)} address`,
      remedy: "see why its preferred lifetime ran out (router advertisements, DHCP renewals)",
    });
  }
  return problems;
}

function isSettled(observed: InterfaceAddress): boolean {
  return !["temporary", "tentative", "dadfailed"].some((flag) => hasFlag(observed, flag));
}

function isUpByName(links: ReadonlyMap<string, HostInterface>, name: string): boolean {
  const entry = links.get(name);
  return entry === undefined || isUp(entry);
}

/** Those that fulfil the wish, or all if none does. */
function preferring(verdicts: readonly AddressVerdict[], wish: (verdict: AddressVerdict) => boolean): readonly AddressVerdict[] {
  const wished = verdicts.filter(wish);
  return wished.length > 0 ? wished : verdicts;
}

function hasStaticSibling({ observed }: AddressVerdict, others: readonly AddressVerdict[]): boolean {
  const prefix = prefixAround(observed.address, observed.prefixLength);
  return others.some(
    (other) => !isDynamic(other.observed) && prefixAround(other.observed.address, other.observed.prefixLength) === prefix,
  );
}

function byPlace(a: Published, b: Published): number {
  const [x, y] = [a.verdict.observed, b.verdict.observed];
  if (familyOf(x) !== familyOf(y)) return familyOf(x) - familyOf(y);
  if (a.interfaceIndex !== b.interfaceIndex) return a.interfaceIndex < b.interfaceIndex ? -1 : 1;
  return compareAddresses(x.address, y.address);
}

export function publishedAddress({ verdict }: Published): IpAddress {
  return verdict.observed.address;
}
