import type { IpAddress } from "@berth/core";
import type { Clock } from "@berth/host";
import type { TimeAnswer } from "./ask-time.js";

/** Does this rack's own NTP server answer, where machines would ask it? */
export interface TimeWatch {
  run(signal: AbortSignal): Promise<void>;
  /** Null while nobody could ask. */
  answers(): boolean | null;
}

export interface TimeWatchPorts {
  readonly clock: Clock;
  /** Own real addresses on the networks it serves; empty while they are not known. */
  addresses(): readonly IpAddress[];
  ask(address: IpAddress): Promise<TimeAnswer>;
  onChange(): void;
}

const PERIOD_MS = 60_000;
/** While it is silent, or its addresses are not known yet. */
const AGAIN_MS = 5_000;
/** So many rounds without an answer, and a server that answered before is no longer offered: a restart must not change every machine's options. */
const SILENT_ROUNDS = 3;

export function createTimeWatch(ports: TimeWatchPorts): TimeWatch {
  let answers: boolean | null = null;
  let silent = 0;

  async function look(): Promise<number> {
    const addresses = ports.addresses();
    if (addresses.length === 0) return AGAIN_MS;
    const heard = await Promise.all(addresses.map((address) => ports.ask(address)));
    // Every network's machines are given the rack's address there, so it has to answer on all of them.
    silent = heard.every(({ ok }) => ok) ? 0 : silent + 1;
    const now = silent === 0 ? true : answers === true && silent < SILENT_ROUNDS;
    if (now !== answers) {
      answers = now;
      ports.onChange();
    }
    return silent > 0 && answers ? AGAIN_MS : PERIOD_MS;
  }

  return {
    answers: () => answers,
    async run(signal) {
      try {
        while (!signal.aborted) await ports.clock.sleep(await look(), signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}
