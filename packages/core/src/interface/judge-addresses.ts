import type { IpFamily } from "../address/ip.js";
import type { Problem } from "../problem.js";
import { containerMark, localMark, pointToPointMark, virtualMark } from "./address-marks.js";
import { ruling, type AddressKnowledge, type Candidate, type Ruling } from "./candidate.js";
import { judgeFamily } from "./judge-family.js";
import type { HostInterface, InterfaceAddress } from "./model.js";
import { rescueFamily } from "./rescue-family.js";
import { familyOf, type AddressVerdict } from "./verdict.js";

export interface Judgement {
  /** In the order of the interfaces given. */
  readonly verdicts: readonly AddressVerdict[];
  readonly problems: readonly Problem[];
}

/**
 * Judges every address of a host; the first step that matches wins:
 * 1 configuration, then the ledger; 2 scope, container and tunnel; 3 marks of a VIP manager; 4 the same address with a wider prefix;
 * 5 leased to this host; 6 the only one of its family; 7 a /32 or /128 beside a wider one, or on lo beside a NIC's; 8 several /32 and nothing
 * wider; 9 deprecated though static; 10 otherwise real. "Only" and "beside" count what steps 1 to 3 left undecided, and what step 1 called real.
 */
export function judgeAddresses(interfaces: readonly HostInterface[], knowledge: AddressKnowledge = {}): Judgement {
  const candidates = inKernelOrder(interfaces).flatMap((entry) =>
    entry.addresses.map((observed): Candidate => ({ entry, observed, ruling: firstSteps(entry, observed, knowledge) })),
  );
  const problems: Problem[] = [];
  for (const family of [4, 6] as const satisfies readonly IpFamily[]) {
    const own = candidates.filter(({ observed }) => familyOf(observed) === family);
    problems.push(...judgeFamily(own, knowledge), ...rescueFamily(own, family));
  }
  return { verdicts: candidates.map(verdictOf), problems };
}

/** By index where the kernel told it: the order in which interfaces arrive means nothing. */
function inKernelOrder(interfaces: readonly HostInterface[]): readonly HostInterface[] {
  return [...interfaces].sort((a, b) => (a.index ?? Infinity) - (b.index ?? Infinity) || (a.name < b.name ? -1 : 1));
}

function firstSteps(entry: HostInterface, observed: InterfaceAddress, knowledge: AddressKnowledge): Ruling | null {
  const { address } = observed;
  if (knowledge.real?.has(address) === true) return ruling(1, "real", 1, "configured in addresses.real");
  if (knowledge.vips?.has(address) === true) return ruling(1, "vip", 1, "configured in addresses.vips");
  if (knowledge.ledgerVips?.has(address) === true) return ruling(1, "vip", 1, "the ledger holds it as a virtual address");
  const local = localMark(observed);
  if (local !== null) return ruling(2, "local", 0.95, local);
  const container = containerMark(entry);
  if (container !== null) return ruling(2, "container", 0.95, container);
  const pointToPoint = pointToPointMark(entry, observed);
  if (pointToPoint !== null) return ruling(2, "p2p", 0.95, pointToPoint);
  const virtual = virtualMark(entry, observed);
  return virtual === null ? null : ruling(3, "vip", 0.95, virtual);
}

function verdictOf({ entry, observed, ruling: decided }: Candidate): AddressVerdict {
  const { class: kind, confidence, reasons, step } = decided ?? ruling(10, "real", 0.85, "nothing speaks against it");
  return { interfaceName: entry.name, observed, class: kind, confidence, reasons, step };
}
