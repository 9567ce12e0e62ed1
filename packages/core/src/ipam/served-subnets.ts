import { prefixContains, type IpPrefix } from "../address/prefix.js";
import { classify } from "../interface/classify.js";
import type { HostInterface } from "../interface/model.js";
import { isHostWidth, type AddressVerdict } from "../interface/verdict.js";
import type { RackView } from "../topology/rack-view.js";
import type { Subnet } from "./model.js";

/** A reported interface list is replaced, never changed, so its verdicts can be kept as long as it lives. */
const verdicts = new WeakMap<readonly HostInterface[], readonly AddressVerdict[]>();

/** What the rack's addresses are, from its newest report. */
export function verdictsOf(rack: Pick<RackView, "interfaces">): readonly AddressVerdict[] {
  let known = verdicts.get(rack.interfaces);
  if (known === undefined) {
    known = classify(rack.interfaces).verdicts;
    verdicts.set(rack.interfaces, known);
  }
  return known;
}

/**
 * The subnets that a rack serves: those of its site in which it has a real address with a prefix of its own (a /32 puts no network on the
 * link). Link state and silence do not matter, a cable that is pulled must not change what the rack is to serve. `verdicts` are the whole region's
 * where they are known; left out, what the rack alone tells.
 */
export function servedSubnets(
  subnets: readonly Subnet[],
  rack: Pick<RackView, "interfaces" | "site">,
  verdicts: readonly AddressVerdict[] = verdictsOf(rack),
): readonly Subnet[] {
  return subnets.filter((subnet) => subnet.site === rack.site && serves(subnet.prefix, verdicts));
}

function serves(prefix: IpPrefix, verdicts: readonly AddressVerdict[]): boolean {
  return verdicts.some(
    ({ class: kind, observed }) => kind === "real" && !isHostWidth(observed) && prefixContains(prefix, observed.address),
  );
}
