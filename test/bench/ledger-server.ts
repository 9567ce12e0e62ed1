import { currentProblems, isoTime, topologyOf } from "@berth/core";
import { silentLog, systemClock } from "@berth/host";
// As it was built: the loader that runs this file would put a call of its own into each function of a source file.
import { createApi } from "../../packages/coordinator/dist/http/create-api.js";
import { openApiTokens } from "../../packages/coordinator/dist/http/api-tokens.js";
import { listenOnAddress } from "../../packages/coordinator/dist/http/listen-api.js";
import { digestApiToken } from "../../packages/coordinator/dist/http/token-auth.js";
import { openLedger } from "../../packages/coordinator/dist/ledger/open-ledger.js";
import { createPostgresStore } from "../../packages/coordinator/dist/store/postgres/postgres-store.js";
import { createSqliteStore } from "../../packages/coordinator/dist/store/sqlite-store.js";

/**
 * The process that the benchmark calls: the API over the ledger in a data folder or a PostgreSQL database, with the token that it is given. Tells its URL on
 * stdout.
 */
const [, , place = "", token = ""] = process.argv;
const ports = { clock: systemClock, log: silentLog };
const store = await (place.startsWith("postgres://") ? createPostgresStore(place, ports) : createSqliteStore(place, ports));
const ledger = await openLedger({ ...ports, store, racks: () => [] });
const fixed = [{ name: "bench", role: "operate", digest: digestApiToken(token) }] as const;
const apiTokens = await openApiTokens({ ...ports, store, fixed });
const api = await createApi({
  ...ports,
  ledger,
  verification: () => "unverified",
  racks: () => [],
  leasesOf: () => [],
  leasesAt: () => [],
  removeRack: () => Promise.resolve({ ok: true, value: null }),
  createToken: () => Promise.resolve({ ok: true, value: { joinLine: "", expiresAt: 0 } }),
  planner: { desiredFor: () => null },
  topology: () => topologyOf([], systemClock.now()),
  problems: () => currentProblems([], []).map((problem) => ({ ...problem, since: isoTime(0) })),
  vipMoves: (asked) => store.topology.moves(asked),
  audit: store.audit,
  auth: apiTokens,
  apiTokens,
  version: "bench",
});
const endpoint = await listenOnAddress(api, "127.0.0.1", 0);
process.stdout.write(`${endpoint.url}\n`);
process.once("SIGTERM", () => process.exit(0));
await ledger.run(new AbortController().signal);
