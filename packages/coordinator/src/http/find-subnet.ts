import type { Subnet } from "@berth/core";
import type { Ledger } from "../ledger/ledger.js";
import { ApiRefusal } from "./api-refusal.js";

/** A list of subnets is replaced, never changed, so what was made of it is good as long as it lives. */
const known = new WeakMap<readonly Subnet[], ReadonlyMap<string, readonly Subnet[]>>();

/** By number or prefix; a prefix that stands in several sites is refused, with the numbers. */
export function findSubnet(ledger: Pick<Ledger, "subnets">, reference: string): Subnet {
  const found = byReference(ledger.subnets()).get(reference) ?? [];
  const [subnet, ...others] = found;
  if (subnet === undefined) {
    throw new ApiRefusal(404, [
      { code: "subnet-unknown", at: reference, message: "no such subnet is declared", remedy: "see 'berth subnet list'" },
    ]);
  }
  if (others.length > 0) {
    const choices = found.map(({ id, site }) => `${id} (site ${site})`).join(", ");
    throw new ApiRefusal(409, [
      {
        code: "subnet-ambiguous",
        at: reference,
        message: "the prefix stands in several sites",
        remedy: `say its number: ${choices}`,
      },
    ]);
  }
  return subnet;
}

function byReference(subnets: readonly Subnet[]): ReadonlyMap<string, readonly Subnet[]> {
  const before = known.get(subnets);
  if (before !== undefined) return before;
  const made = new Map<string, Subnet[]>();
  for (const subnet of subnets) {
    made.set(String(subnet.id), [subnet]);
    const namesakes = made.get(subnet.prefix);
    if (namesakes === undefined) made.set(subnet.prefix, [subnet]);
    else namesakes.push(subnet);
  }
  known.set(subnets, made);
  return made;
}
