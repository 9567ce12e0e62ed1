import { EMPTY_LEDGER, LedgerState } from "@berth/core";
import { benchMachine, benchSubnet } from "./ledger-fill.js";

/** Loads a ledger of so many machines, each with one allocation, and prints the process's resident octets after a full collection. */
const count = Number(process.argv[2]);
const PER_SUBNET = 65_534;
const state = new LedgerState(EMPTY_LEDGER);
for (let number = 0; number < count; number++) {
  const subnetId = Math.floor(number / PER_SUBNET) + 1;
  const index = (number % PER_SUBNET) + 1;
  if (index === 1) state.apply({ table: "subnet", before: null, after: benchSubnet(subnetId, `10.${subnetId}.0.0/16`) });
  const { allocation, machine } = benchMachine(number, subnetId, `10.${subnetId}.${index >> 8}.${index & 255}`);
  state.apply({ table: "machine", before: null, after: machine });
  state.apply({ table: "allocation", before: null, after: allocation });
}
globalThis.gc?.();
globalThis.gc?.();
process.stdout.write(String(process.memoryUsage().rss));
if (state.allocations.size !== count) throw new Error("allocations are missing");
