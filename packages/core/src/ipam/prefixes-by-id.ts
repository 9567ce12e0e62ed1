import type { Subnet } from "./model.js";

/** A list of subnets is replaced, never changed, so what was made of it is good as long as it lives. */
const known = new WeakMap<readonly Subnet[], ReadonlyMap<number, Subnet["prefix"]>>();

/** The prefix of each subnet by id, made once for each list. */
export function prefixesById(subnets: readonly Subnet[]): ReadonlyMap<number, Subnet["prefix"]> {
  let prefixes = known.get(subnets);
  if (prefixes === undefined) {
    prefixes = new Map(subnets.map(({ id, prefix }) => [id, prefix]));
    known.set(subnets, prefixes);
  }
  return prefixes;
}
