import { BugError, checkLedger, LedgerState, type LedgerContent, type Problem } from "@berth/core";
import type { Clock } from "@berth/host";
import { migrationsDone, refuseNewer } from "../store/migrate.js";
import { migrationNames } from "../store/migrations.js";
import { loadLedger } from "../store/postgres/load-ledger.js";
import { readRegion, type RegionDatabase, type RegionPlace } from "./region-database.js";

export interface RegionCheck {
  readonly shown: string;
  readonly revision: number;
  readonly allocations: number;
  readonly findings: readonly Problem[];
}

/** Looks a region's database through while it is in use. Throws what the store throws when it cannot be read at all. */
export function checkRegion(place: RegionPlace, clock: Clock): Promise<RegionCheck> {
  return readRegion(place, clock, async (region) => {
    await refuseNewer(region.query, region.shown);
    const damage = (await region.damage()).map((message) => ({ code: "store-damaged", at: region.shown, message }));
    const missing = migrationNames.length - (await migrationsDone(region.query)).length;
    if (missing > 0)
      return { shown: region.shown, revision: 0, allocations: 0, findings: [...damage, olderFinding(region, missing)] };
    const { position, content } = await loadLedger(region.query);
    const findings = [...damage, ...ledgerFindings(region, content)];
    return { shown: region.shown, revision: position.revision, allocations: content.allocations.length, findings };
  });
}

function olderFinding({ shown }: RegionDatabase, steps: number): Problem {
  const remedy = "start the coordinator once; it brings the database to this version";
  return { code: "store-older", at: shown, message: `the database is of an older version, by ${steps} steps`, remedy };
}

/** Whatever the coordinator could not start with, and what a ledger must never be. */
function ledgerFindings({ shown }: RegionDatabase, content: LedgerContent): readonly Problem[] {
  try {
    new LedgerState(content);
    return checkLedger(content);
  } catch (error) {
    if (!(error instanceof BugError)) throw error;
    return [{ code: "ledger-unsound", at: shown, message: error.message, remedy: "restore a backup" }];
  }
}
