import type { IpAddress } from "../address/ip.js";
import type { IpPrefix } from "../address/prefix.js";
import type { AddressKnowledge } from "./candidate.js";
import type { Problem } from "../problem.js";
import { coverIndex, networksOf } from "./covering-prefix.js";
import { judgeAddresses } from "./judge-addresses.js";
import type { HostInterface } from "./model.js";
import { checkAddresses, publishAddresses, publishedAddress } from "./publish-addresses.js";
import type { AddressVerdict } from "./verdict.js";

export interface ClassifyOptions extends AddressKnowledge {
  /** Networks known besides those of the host's own addresses: the ledger's subnets. */
  readonly networks?: readonly IpPrefix[];
}

/** All that one host's addresses tell. */
export interface Classification {
  /** One a key (interface, address, prefix length), in kernel order. */
  readonly verdicts: readonly AddressVerdict[];
  /** What others may be given to reach this host: IPv4 first, then by interface. */
  readonly publish: readonly IpAddress[];
  /** Networks of the real addresses; never a /32 or /128. */
  readonly networks: readonly IpPrefix[];
  /** Real and virtual addresses with the smallest known network around each. */
  readonly networkOf: ReadonlyMap<IpAddress, IpPrefix | null>;
  readonly problems: readonly Problem[];
}

/** Tells a host's own addresses from virtual ones, from one look at the host. Pure; the order of the interfaces does not matter. */
export function classify(interfaces: readonly HostInterface[], options: ClassifyOptions = {}): Classification {
  const { verdicts, problems } = judgeAddresses(interfaces, options);
  return classification(interfaces, verdicts, { networks: options.networks ?? [], problems });
}

/** The rest of a classification, from verdicts that were settled over several looks. */
export function classification(
  interfaces: readonly HostInterface[],
  verdicts: readonly AddressVerdict[],
  context: { readonly networks?: readonly IpPrefix[]; readonly problems?: readonly Problem[] } = {},
): Classification {
  const published = publishAddresses(interfaces, verdicts);
  const networks = networksOf(verdicts);
  const covering = coverIndex([...networks, ...(context.networks ?? [])]);
  const placed = verdicts.filter(({ class: kind }) => kind === "real" || kind === "vip");
  return {
    verdicts,
    publish: published.map(publishedAddress),
    networks,
    networkOf: new Map(placed.map(({ observed }) => [observed.address, covering(observed.address)])),
    problems: [...(context.problems ?? []), ...checkAddresses(published, verdicts)],
  };
}
