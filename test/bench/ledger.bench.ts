import { measureHttp } from "./ledger-http.js";
import { measureMemory } from "./ledger-memory.js";
import { measurePick } from "./ledger-pick.js";
import { measurePostgres } from "./ledger-postgres.js";
import type { Benchmark } from "./measurement.js";

export const benchmark: Benchmark = {
  name: "ledger",
  run: async () => [...measurePick(), ...(await measureMemory()), ...(await measureHttp()), ...(await measurePostgres())],
};
