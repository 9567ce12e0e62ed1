import {
  LedgerState,
  accepted,
  changeSubnet,
  declareSubnet,
  enrollMachine,
  observedBy,
  releaseMachine,
  removeSubnet,
  type Decision,
  type RackView,
  type Result,
} from "@berth/core";
import type { Clock } from "@berth/host";
import type { Ledger } from "../../../packages/coordinator/src/ledger/ledger.js";

/** The ledger's decisions on memory alone: what the API's tests need of a ledger, without a store behind it. */
export function createMemoryLedger(clock: Clock, racks: () => readonly RackView[]): Ledger {
  const state = new LedgerState({ subnets: [], machines: [], allocations: [], quarantines: [], nextSubnetId: 1 });
  let revision = 0;
  let ids = 0;
  const commit = <T>(decided: Result<Decision<T>>): Promise<Result<T>> => {
    if (!decided.ok) return Promise.resolve(decided);
    for (const change of decided.value.changes) state.apply(change);
    revision += 1;
    return Promise.resolve(accepted(decided.value.value));
  };
  return {
    get revision() {
      return revision;
    },
    subnets: () => state.content().subnets,
    machines: () => state.content().machines,
    allocations: () => state.content().allocations,
    quarantines: () => state.content().quarantines,
    createSubnet: (request) => commit(declareSubnet(state, request, clock.now())),
    changeSubnet: (id, change) => commit(changeSubnet(state, { id, change }, clock.now())),
    removeSubnet: (id) => commit(removeSubnet(state, id, clock.now())),
    enroll: (request) => {
      state.beginTurn();
      ids += 1;
      const now = clock.now();
      return commit(
        enrollMachine(state, request, { observed: observedBy(racks(), now), now, machineId: `m${ids}`, allocationId: `a${ids}` }),
      );
    },
    release: (machine) => commit(releaseMachine(state, machine, clock.now())),
    onChange: () => () => undefined,
  };
}
