import type { IpAddress } from "../address/ip.js";
import { prefixContains } from "../address/prefix.js";
import { enlistmentAddress } from "../dhcpd/enlistment.js";
import type { RackLinks } from "../dhcpd/rack-links.js";
import type { DesiredState, DesiredSubnet, RetiredLease } from "./schema.js";

/** A lease to free, and the interface on whose wire its holder would answer. */
export interface Retirement extends RetiredLease {
  readonly link: string;
  /** The rack's own address there, on the network of the lease. */
  readonly source: IpAddress;
}

/** What came of trying to free a lease. */
export type RetirementOutcome =
  /** Free, renewed, or gone: nothing is left to do. */
  | "done"
  /** Somebody answers at the address: asked again later, and waited out at the latest. */
  | "in-use"
  /** dhcpd could not be asked. */
  | "failed";

/** Names one lease: the same one in every desired state. */
export function retirementKey({ address, hardwareAddress, ends }: RetiredLease): string {
  return `${address} ${hardwareAddress} ${ends}`;
}

/** The leases whose turn it is: not done, still running at `now` (milliseconds since 1970), and on a wire of this rack. */
export function retirementsDue(
  desired: Pick<DesiredState, "subnets" | "retired">,
  { links }: RackLinks,
  known: { readonly outcomes: ReadonlyMap<string, RetirementOutcome>; readonly now: number },
): Retirement[] {
  return (desired.retired ?? []).flatMap((lease) => {
    if (lease.ends * 1000 <= known.now || known.outcomes.get(retirementKey(lease)) === "done") return [];
    const around = subnetAround(desired, lease.address);
    const link = links.find(({ subnetId }) => subnetId === around?.id);
    if (link === undefined || around === null) return [];
    const source = prefixContains(around.prefix, lease.address)
      ? link.address
      : (enlistmentAddress(around)?.address ?? link.address);
    return [{ ...lease, link: link.name, source }];
  });
}

function subnetAround({ subnets }: Pick<DesiredState, "subnets">, address: IpAddress): DesiredSubnet | null {
  const around = subnets.find(
    ({ prefix, enlistment }) =>
      prefixContains(prefix, address) || (enlistment !== null && prefixContains(enlistment.slice, address)),
  );
  return around ?? null;
}
