import { addressBits } from "../address/ip.js";
import type { Problem } from "../problem.js";
import { counts, ruling, standsOnNic, type AddressKnowledge, type Candidate, type Ruling } from "./candidate.js";
import { describeAddress, familyOf, hasFlag, isDynamic, isHostWidth } from "./verdict.js";

/** The counted addresses of one family of a host, looked at once. */
interface Siblings {
  readonly counted: readonly Candidate[];
  readonly wide: readonly Candidate[];
  readonly onNic: readonly Candidate[];
  /** How many different addresses there are. */
  readonly distinct: number;
}

/** Steps 4 to 10 for the undecided addresses of one family, in kernel order. Writes the rulings, answers the problems. */
export function judgeFamily(candidates: readonly Candidate[], knowledge: AddressKnowledge): readonly Problem[] {
  const counted = candidates.filter(counts);
  const siblings: Siblings = {
    counted,
    wide: counted.filter(({ observed }) => !isHostWidth(observed)),
    onNic: counted.filter(standsOnNic),
    distinct: new Set(counted.map(({ observed }) => observed.address)).size,
  };
  const undecided = counted.filter(({ ruling: decided }) => decided === null);
  for (const candidate of undecided) {
    candidate.ruling =
      sameWithWider(candidate, siblings) ??
      leased(candidate, knowledge) ??
      only(candidate, siblings) ??
      hostRoute(candidate, siblings);
  }
  const problems = severalHostRoutes(undecided.filter(isUndecided), siblings);
  settleRest(undecided.filter(isUndecided), siblings);
  return problems;
}

function isUndecided(candidate: Candidate): boolean {
  return candidate.ruling === null;
}

/** Step 4: keepalived's VIP may be the address that the NIC has anyway. */
function sameWithWider({ observed }: Candidate, { counted }: Siblings): Ruling | null {
  const wider = counted.find(
    (other) => other.observed.address === observed.address && other.observed.prefixLength < observed.prefixLength,
  );
  return wider === undefined ? null : ruling(4, "real", 0.95, `the host has the same address as ${name(wider)}`);
}

/** Step 5: clouds lease IPv4 /32s and DHCPv6 always gives /128s. */
function leased({ observed }: Candidate, knowledge: AddressKnowledge): Ruling | null {
  if (isDynamic(observed)) return ruling(5, "real", 0.9, "it has a lifetime: this host got it by DHCP or from a router");
  return knowledge.leasedToSelf?.has(observed.address) === true
    ? ruling(5, "real", 0.9, "a lease file of this host grants it to this host")
    : null;
}

/** Step 6: also on lo, where hosts that route have their address. */
function only({ observed }: Candidate, { distinct }: Siblings): Ruling | null {
  if (distinct !== 1) return null;
  const family = familyOf(observed);
  const alone = `the only IPv${family} address that could be this host's own`;
  return isHostWidth(observed)
    ? ruling(6, "real", 0.9, alone, `single host: /${observed.prefixLength} names no network`)
    : ruling(6, "real", 0.9, alone);
}

/** Step 7: a single address beside the host's own network address, or a service address on lo (anycast, LVS). */
function hostRoute(candidate: Candidate, siblings: Siblings): Ruling | null {
  const { observed } = candidate;
  if (!isHostWidth(observed)) return null;
  const wider = siblings.wide.find((other) => other.observed.address !== observed.address);
  const nic = standsOnNic(candidate) ? undefined : siblings.onNic.find((other) => other.entry.name !== candidate.entry.name);
  if (wider === undefined && nic === undefined) return null;
  const why =
    nic !== undefined
      ? `/${observed.prefixLength} on ${candidate.entry.name} while ${name(nic)} is this host's`
      : `/${observed.prefixLength} beside ${wider === undefined ? "another" : name(wider)}`;
  const marks = managerMarks(candidate, siblings);
  return ruling(7, "vip", marks.length > 0 ? 0.95 : 0.9, why, ...marks);
}

/** What pacemaker, keepalived and kube-vip leave on a /32 or /128. */
function managerMarks({ observed }: Candidate, { wide }: Siblings): readonly string[] {
  const marks: string[] = [];
  const sibling = wide.find((other) => observed.broadcast !== null && other.observed.broadcast === observed.broadcast);
  if (sibling !== undefined)
    marks.push(`its broadcast ${observed.broadcast ?? ""} is that of ${name(sibling)}, as pacemaker sets it`);
  for (const flag of ["deprecated", "nodad"]) if (hasFlag(observed, flag)) marks.push(`it is marked ${flag}`);
  return marks;
}

/**
 * Step 8: nothing tells which of several single addresses stays. The first in kernel order is taken, not a deprecated one if another is there;
 * where configuration names a real one, it is that one.
 */
function severalHostRoutes(undecided: readonly Candidate[], siblings: Siblings): readonly Problem[] {
  const configured = siblings.counted.find(({ ruling: decided }) => decided?.step === 1);
  const single = undecided.filter(({ observed }) => isHostWidth(observed) && !isDynamic(observed));
  if (siblings.wide.length > 0 || single.length + (configured === undefined ? 0 : 1) < 2) return [];
  const chosen = configured ?? single.find(({ observed }) => !hasFlag(observed, "deprecated")) ?? single[0];
  if (chosen === undefined) return [];
  for (const candidate of single) {
    candidate.ruling =
      candidate === chosen
        ? ruling(8, "real", 0.5, `the first of ${single.length} static /${candidate.observed.prefixLength} and nothing wider`)
        : ruling(8, "vip", 0.5, `static /${candidate.observed.prefixLength} beside ${name(chosen)} and nothing wider`);
  }
  if (configured !== undefined) return [];
  const family = familyOf(chosen.observed);
  return [
    {
      code: "ambiguous-real",
      at: chosen.entry.name,
      message: `${single.length} static IPv${family} addresses with /${addressBits(family)} and nothing wider: ${chosen.observed.address} is taken for this host's own by order alone`,
      remedy: "name this host's own address in addresses.real",
    },
  ];
}

/** Steps 9 and 10. A deprecated static address is a VIP only beside one that stays real, so that a host is never left with nothing. */
function settleRest(undecided: readonly Candidate[], { counted }: Siblings): void {
  const parked = undecided.filter(({ observed }) => hasFlag(observed, "deprecated"));
  for (const candidate of undecided) if (!parked.includes(candidate)) candidate.ruling = otherwise(candidate);
  const kept = counted.find(({ ruling: decided }) => decided?.class === "real");
  for (const candidate of parked) {
    candidate.ruling =
      kept === undefined ? otherwise(candidate) : ruling(9, "vip", 0.8, `static yet marked deprecated, beside ${name(kept)}`);
  }
}

function otherwise({ observed }: Candidate): Ruling {
  return hasFlag(observed, "secondary")
    ? ruling(
        10,
        "real",
        0.6,
        "a second address of its subnet",
        "a VIP with the subnet's own mask looks the same: the fleet or addresses.vips tells",
      )
    : ruling(10, "real", 0.85, "a static address with its network's prefix length");
}

function name({ entry, observed }: Candidate): string {
  return describeAddress({ interfaceName: entry.name, observed });
}
