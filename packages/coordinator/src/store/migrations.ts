import type { Migration, MigrationProvider } from "kysely";
import { apiTokenSchema } from "./api-token-schema.js";
import { desiredChangeSchema } from "./desired-change-schema.js";
import { firstSchema } from "./first-schema.js";
import { namesSchema } from "./names-schema.js";
import { tokenReplaces } from "./token-replaces.js";
import { sharedLedgerSchema } from "./shared-ledger-schema.js";
import { subnetDhcpSchema } from "./subnet-dhcp-schema.js";
import { topologySchema } from "./topology-schema.js";
import { wireSavesSchema } from "./wire-saves-schema.js";
import { wireSchema } from "./wire-schema.js";

/** All steps from an empty database to this version, in the order of their names. Only ever appended to. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-first-schema": { up: firstSchema },
  "0002-topology": { up: topologySchema },
  "0003-token-replaces": { up: tokenReplaces },
  "0004-names-and-reservations": { up: namesSchema },
  "0005-api-token": { up: apiTokenSchema },
  "0006-shared-ledger": { up: sharedLedgerSchema },
  "0007-subnet-dhcp": { up: subnetDhcpSchema },
  "0008-wire": { up: wireSchema },
  "0009-wire-saves": { up: wireSavesSchema },
  "0010-desired-change": { up: desiredChangeSchema },
};

export const migrationNames: readonly string[] = Object.keys(MIGRATIONS).sort();

export const migrations: MigrationProvider = { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) };
