import { patchDesired, type DesiredChange, type DesiredState } from "@berth/core";
import type { Kysely, SelectQueryBuilder } from "kysely";
import { stateDigests } from "../plan/state-digests.js";
import type { DesiredRecord } from "./store.js";
import type { Tables } from "./tables.js";

/** A row of the table `desired`, with the one of `desired_change` where there is one. */
export interface DesiredRow {
  readonly state: string;
  readonly digest: string;
  readonly change: string | null;
  readonly change_digest: string | null;
}

/** A change that does not lead where it should counts as none: what its racks have is then newer than the store knows, and gets a number above that. */
export function desiredRecordOf({ state, digest, change, change_digest }: DesiredRow): DesiredRecord {
  const whole = JSON.parse(state) as DesiredState;
  const asSaved = { state: whole, digest, whole, change: null };
  if (change === null || change_digest === null) return asSaved;
  const parsed = JSON.parse(change) as DesiredChange;
  const newest = patchDesired(whole, parsed);
  if (newest === null || stateDigests.of(newest) !== change_digest) return asSaved;
  return { state: newest, digest: change_digest, whole, change: parsed };
}

/** Answers a row where the state that a change begins with is the one that is saved whole: another coordinator may have saved a newer one meanwhile. */
export function baseOf(
  query: Kysely<Tables>,
  rackId: string,
  { base }: DesiredChange,
): SelectQueryBuilder<Tables, "desired", { rack_id: string }> {
  return query
    .selectFrom("desired")
    .select("rack_id")
    .where("rack_id", "=", rackId)
    .where("generation", "=", base.generation)
    .where("digest", "=", base.digest);
}
