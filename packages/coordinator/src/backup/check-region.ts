import { checkLedger, LedgerState, type LedgerContent, type Problem } from "@berth/core";
import { EnvironmentError, type Clock } from "@berth/host";
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
    const nothing = { shown: region.shown, revision: 0, allocations: 0 };
    const loaded = await unsoundOf(region, () => loadLedger(region.query));
    if (Array.isArray(loaded)) return { ...nothing, findings: [...damage, ...loaded] };
    const { content, position } = loaded;
    const unsound = await unsoundOf(region, () => Promise.resolve(ledgerFindings(content)));
    return {
      ...nothing,
      revision: position.revision,
      allocations: content.allocations.length,
      findings: [...damage, ...unsound],
    };
  });
}

function olderFinding({ shown }: RegionDatabase, steps: number): Problem {
  const remedy = "start the coordinator once; it brings the database to this version";
  return { code: "store-older", at: shown, message: `the database is of an older version, by ${steps} steps`, remedy };
}

/** What a ledger must never be. */
function ledgerFindings(content: LedgerContent): readonly Problem[] {
  new LedgerState(content);
  return checkLedger(content);
}

/** What the coordinator could not start with is a bug there and what is looked for here. */
async function unsoundOf<T>(region: RegionDatabase, body: () => Promise<T>): Promise<T | Problem[]> {
  try {
    return await body();
  } catch (error) {
    // Not from the engine, so from a row that nothing of ours wrote: whatever it broke, it is what was looked for.
    if (!(error instanceof Error) || region.named(error) !== error || error instanceof EnvironmentError) throw error;
    return [{ code: "ledger-unsound", at: region.shown, message: error.message, remedy: "restore a backup" }];
  }
}
