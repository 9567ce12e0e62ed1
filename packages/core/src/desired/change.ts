import { z } from "zod";
import { desiredHostSchema, desiredRecordSchema, desiredStateSchema, desiredSubnetSchema, desiredZoneSchema } from "./schema.js";
import type { DesiredState, DesiredSubnet, DesiredZone } from "./schema.js";

const placeSchema = z.int().min(0);

/** Changes of a list in its order, at ascending places of the list as it was: so many items are gone from there, these stand there instead. */
const hostsChangeSchema = z.array(z.strictObject({ at: placeSchema, gone: placeSchema, put: z.array(desiredHostSchema) }));
const recordsChangeSchema = z.array(z.strictObject({ at: placeSchema, gone: placeSchema, put: z.array(desiredRecordSchema) }));

/** One network or zone of the new state: as it was at that place, new as a whole, or as it was with another list. */
const subnetChangeSchema = z.union([
  z.strictObject({ same: placeSchema }),
  z.strictObject({ whole: desiredSubnetSchema }),
  z.strictObject({ of: placeSchema, rest: desiredSubnetSchema.omit({ hosts: true }), hosts: hostsChangeSchema }),
]);
const zoneChangeSchema = z.union([
  z.strictObject({ same: placeSchema }),
  z.strictObject({ whole: desiredZoneSchema }),
  z.strictObject({ of: placeSchema, rest: desiredZoneSchema.omit({ records: true }), records: recordsChangeSchema }),
]);

/**
 * The way from one desired state to the next, where little differs. Compression and nothing more: whoever does not hold exactly the state that it begins
 * with asks for the next one whole, and the digest tells that the two ways lead to the same.
 */
export const desiredChangeSchema = z.strictObject({
  /** The state that it begins with. */
  base: z.strictObject({ generation: z.int().positive(), digest: z.string().max(64) }),
  /** Digest of the state that it leads to, see `DesiredDigests`. */
  digest: z.string().max(64),
  /** All of the new state beside its networks and zones. */
  rest: desiredStateSchema.omit({ subnets: true, zones: true }),
  /** Null: as they were. */
  subnets: z.array(subnetChangeSchema).max(4096).nullable(),
  zones: z.array(zoneChangeSchema).max(8192).nullable(),
});
export type DesiredChange = z.infer<typeof desiredChangeSchema>;

type SubnetChange = z.infer<typeof subnetChangeSchema>;
type ZoneChange = z.infer<typeof zoneChangeSchema>;

/** `gone` items at `at` of the list as it was make room for `put`. */
interface Splice<T> {
  readonly at: number;
  readonly gone: number;
  readonly put: readonly T[];
}

/** More new items than this travel as a whole state, which is then hardly larger. */
const PUT_MAX = 2048;

/**
 * What leads from one state to the other; null when it is no little thing. Parts that are equal must be the same objects (see `shareParts`).
 * `digest` names contents.
 */
export function diffDesired(
  before: DesiredState,
  after: DesiredState,
  digest: (state: DesiredState) => string,
): DesiredChange | null {
  const { subnets, zones, ...rest } = after;
  const room = { left: PUT_MAX };
  const change = {
    base: { generation: before.generation, digest: digest(before) },
    digest: digest(after),
    rest,
    subnets: subnets === before.subnets ? null : diffSubnets(before.subnets, subnets, room),
    zones: zones === before.zones ? null : diffZones(before.zones, zones, room),
  };
  return room.left < 0 ? null : change;
}

interface Room {
  left: number;
}

function diffSubnets(before: readonly DesiredSubnet[], after: readonly DesiredSubnet[], room: Room): SubnetChange[] {
  const places = new Map(before.map((subnet, place) => [subnet.id, place]));
  return after.map((subnet): SubnetChange => {
    const of = places.get(subnet.id);
    const known = of === undefined ? undefined : before[of];
    if (of === undefined || known === undefined) {
      room.left -= subnet.hosts.length + subnet.excluded.length;
      return { whole: subnet };
    }
    if (known === subnet) return { same: of };
    const { hosts, ...rest } = subnet;
    if (rest.excluded !== known.excluded) room.left -= rest.excluded.length;
    return { of, rest, hosts: diffList(known.hosts, hosts, room) };
  });
}

function diffZones(before: readonly DesiredZone[], after: readonly DesiredZone[], room: Room): ZoneChange[] {
  const places = new Map(before.map((zone, place) => [zone.origin, place]));
  return after.map((zone): ZoneChange => {
    const of = places.get(zone.origin);
    const known = of === undefined ? undefined : before[of];
    if (of === undefined || known === undefined) {
      room.left -= zone.records.length;
      return { whole: zone };
    }
    if (known === zone) return { same: of };
    const { records, ...rest } = zone;
    return { of, rest, records: diffList(known.records, records, room) };
  });
}

/** By identity. Where the order of what is in both differs, all from there on is put anew. */
function diffList<T extends object>(
  before: readonly T[],
  after: readonly T[],
  room: Room,
): { at: number; gone: number; put: T[] }[] {
  const [head, tail] = commonEnds(before, after);
  const [end, until] = [before.length - tail, after.length - tail];
  const [kept, known] = [new Set(after.slice(head, until)), new Set(before.slice(head, end))];
  const splices: { at: number; gone: number; put: T[] }[] = [];
  let [at, from] = [head, head];
  while (at < end || from < until) {
    if (at < end && from < until && before[at] === after[from]) {
      at++;
      from++;
      continue;
    }
    let [gone, to] = [at, from];
    while (gone < end && !isIn(kept, before[gone])) gone++;
    while (to < until && !isIn(known, after[to])) to++;
    if (gone === at && to === from) [gone, to] = [end, until];
    room.left -= to - from;
    splices.push({ at, gone: gone - at, put: after.slice(from, to) });
    [at, from] = [gone, to];
  }
  return splices;
}

function isIn(items: ReadonlySet<unknown>, item: unknown): boolean {
  return items.has(item);
}

/** How many items are the same from the beginning, and how many of the others from the end. */
function commonEnds(before: readonly object[], after: readonly object[]): readonly [number, number] {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  return [head, tail];
}

/** The state that the change leads to, of the very parts of the one before; null when it does not fit that one. Its digest is the caller's to check. */
export function patchDesired(before: DesiredState, change: DesiredChange): DesiredState | null {
  if (change.base.generation !== before.generation) return null;
  const subnets =
    change.subnets === null ? before.subnets : patchAll(change.subnets, (item) => patchSubnet(before.subnets, item));
  const zones = change.zones === null ? before.zones : patchAll(change.zones, (item) => patchZone(before.zones, item));
  return subnets === null || zones === null ? null : { ...change.rest, subnets, zones };
}

function patchAll<C, T>(changes: readonly C[], patch: (change: C) => T | null): T[] | null {
  const patched: T[] = [];
  for (const change of changes) {
    const item = patch(change);
    if (item === null) return null;
    patched.push(item);
  }
  return patched;
}

function patchSubnet(before: readonly DesiredSubnet[], change: SubnetChange): DesiredSubnet | null {
  if ("whole" in change) return change.whole;
  if ("same" in change) return before[change.same] ?? null;
  const known = before[change.of];
  const hosts = known === undefined ? null : patchList(known.hosts, change.hosts);
  return hosts === null ? null : { ...change.rest, hosts };
}

function patchZone(before: readonly DesiredZone[], change: ZoneChange): DesiredZone | null {
  if ("whole" in change) return change.whole;
  if ("same" in change) return before[change.same] ?? null;
  const known = before[change.of];
  const records = known === undefined ? null : patchList(known.records, change.records);
  return records === null ? null : { ...change.rest, records };
}

function patchList<T>(before: T[], splices: readonly Splice<T>[]): T[] | null {
  if (splices.length === 0) return before;
  const parts: (readonly T[])[] = [];
  let at = 0;
  for (const splice of splices) {
    if (splice.at < at || splice.at + splice.gone > before.length) return null;
    parts.push(before.slice(at, splice.at), splice.put);
    at = splice.at + splice.gone;
  }
  return parts.concat([before.slice(at)]).flat();
}
