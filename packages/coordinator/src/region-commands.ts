import { formatProblem } from "@berth/core";
import type { Clock } from "@berth/host";
import type { Command } from "commander";
import { checkRegion } from "./backup/check-region.js";
import type { RegionPlace } from "./backup/region-database.js";
import { examineBackup, restoreBackup } from "./backup/restore-backup.js";
import { writeBackup } from "./backup/write-backup.js";

export interface RegionCommandPorts {
  readonly clock: Clock;
  stdout(text: string): void;
  exitWith(code: 0 | 1): void;
}

export interface PlaceOptions {
  readonly config?: string;
  readonly data?: string;
  readonly database?: string;
}

/** From options and configuration file; null after the problems were told and the exit status set. */
export type ReadPlace = (options: PlaceOptions) => Promise<RegionPlace | null>;

/** Adds `backup`, `restore` and `check`. */
export function addRegionCommands(program: Command, ports: RegionCommandPorts, readPlace: ReadPlace): void {
  placed(program.command("backup <file>"))
    .description("write a backup of the region while it is in use; it restores into either engine")
    .addHelpText("after", "\nThe certificate authority and the admin token are files in the data folder: copy them too.")
    .action(async (file: string, options: PlaceOptions) => {
      const place = await readPlace(options);
      if (place === null) return;
      const rows = await writeBackup(place, file, ports.clock);
      ports.stdout(`${file}: ${rows} rows\n`);
    });
  placed(program.command("restore <file>"))
    .description("put a backup into a new data folder or an empty database")
    .action(async (file: string, options: PlaceOptions) => {
      const place = await readPlace(options);
      if (place === null) return;
      const rows = await restoreBackup(place, file, ports.clock);
      ports.stdout(`${rows} rows restored\n`);
    });
  placed(program.command("check [backup]"))
    .description("look through the region's database, or through a backup; 1 when something is wrong with it")
    .action(async (file: string | undefined, options: PlaceOptions) => {
      if (file !== undefined) return checkBackup(file, ports);
      const place = await readPlace(options);
      if (place === null) return;
      const { shown, revision, allocations, findings } = await checkRegion(place, ports.clock);
      for (const finding of findings) ports.stdout(`${formatProblem(finding)}\n`);
      if (findings.length > 0) return ports.exitWith(1);
      ports.stdout(`${shown}: sound, revision ${revision}, ${allocations} allocations\n`);
    });
}

async function checkBackup(file: string, ports: RegionCommandPorts): Promise<void> {
  const { rows, version, at } = await examineBackup(file);
  ports.stdout(`${file}: sound, ${rows} rows, made by ${version} at ${new Date(at).toISOString()}\n`);
}

function placed(command: Command): Command {
  return command
    .option("--config <file>", "configuration file of the coordinator")
    .option("--data <dir>", "folder of the database")
    .option("--database <url>", "the PostgreSQL database");
}
