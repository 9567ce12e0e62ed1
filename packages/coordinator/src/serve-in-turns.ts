import type { CoordinatorConfig } from "./config.js";
import { createTurn, type Coordinator, type CoordinatorPorts } from "./create-coordinator.js";
import { RackHold } from "./store/postgres/rack-hold.js";

/**
 * Puts a coordinator together; nothing listens yet. Of several on one database one has the racks: it alone listens for them, plans for them and
 * keeps what they report. The others serve the API and the ledger, and one of them takes the racks over when the first is gone. Throws
 * `data-folder-in-use`, `store-newer`, `store-unreachable`, `key-unreadable`.
 */
export async function createCoordinator(config: CoordinatorConfig, ports: CoordinatorPorts): Promise<Coordinator> {
  if (config.database === null) return createTurn(config, ports, { hasRacks: true });
  const hold = new RackHold(config.database, ports.clock);
  try {
    await hold.look(new AbortController().signal);
    const first = await createTurn(config, ports, { hasRacks: hold.held });
    return new Turns(config, ports, hold, first);
  } catch (error) {
    await hold.release();
    throw error;
  }
}

class Turns implements Coordinator {
  readonly #config: CoordinatorConfig;
  readonly #ports: CoordinatorPorts;
  readonly #hold: RackHold;
  #turn: Coordinator;

  constructor(config: CoordinatorConfig, ports: CoordinatorPorts, hold: RackHold, first: Coordinator) {
    this.#config = config;
    this.#ports = ports;
    this.#hold = hold;
    this.#turn = first;
  }

  endpoints(): readonly string[] {
    return this.#turn.endpoints();
  }

  /** A turn ends when the racks are given or taken away; the next one starts from what the database has, as after a restart. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        const { log } = this.#ports;
        if (!this.#hold.held) log.info("another coordinator of the database has the racks; this one stands by");
        await this.#oneTurn(signal);
        if (signal.aborted) return;
        log.info({ hasRacks: this.#hold.held }, "the racks change hands");
        this.#turn = await createTurn(this.#config, this.#ports, { hasRacks: this.#hold.held });
      }
    } finally {
      await this.#hold.release();
    }
  }

  async #oneTurn(signal: AbortSignal): Promise<void> {
    const ends = new AbortController();
    const either = AbortSignal.any([signal, ends.signal]);
    const watching = this.#hold.changed(either).finally(() => ends.abort());
    try {
      await this.#turn.run(either);
    } finally {
      ends.abort();
      await watching;
    }
  }
}
