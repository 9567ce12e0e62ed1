import {
  foreignServerProblems,
  noteOffers,
  type ForeignServer,
  type HardwareAddress,
  type HeardOffer,
  type IpAddress,
  type Problem,
} from "@berth/core";
import { createBell, describeError, EnvironmentError, type Clock, type Log } from "@berth/host";
import type { WireProber, WireTarget } from "../wire/wire-prober.js";
import type { AskedLink } from "./ask-dhcp-servers.js";

/** Looks for DHCP servers on served links that are none of ours. */
export interface DhcpServerWatch {
  run(signal: AbortSignal): Promise<void>;
  /** The links may have changed: look soon. */
  nudge(): void;
  problems(): readonly Problem[];
}

export interface DhcpServerWatchPorts {
  readonly clock: Clock;
  readonly log: Log;
  /** In [0, 1). */
  readonly random: () => number;
  /** Links on which this rack serves DHCP now. */
  links(): readonly AskedLink[];
  /** Addresses of servers that may be there: this host's own, and those that an operator named. */
  readonly trusted: () => ReadonlySet<IpAddress>;
  ask(links: readonly AskedLink[], signal: AbortSignal): Promise<readonly HeardOffer[]>;
  readonly prober: WireProber;
  onChange(): void;
  /** Between two rounds, about; 0 for never. */
  readonly periodMs: number;
}

/** Links that change come in bursts: a round waits this long for the last of them. */
const SETTLE_MS = 2_000;

export function createDhcpServerWatch(ports: DhcpServerWatchPorts): DhcpServerWatch {
  const bell = createBell(ports.clock);
  let servers: readonly ForeignServer[] = [];
  let failure: Problem | null = null;
  let asked = "";
  let reported = "[]";

  const problems = (): readonly Problem[] => [...foreignServerProblems(servers), ...(failure === null ? [] : [failure])];

  async function look(signal: AbortSignal): Promise<void> {
    const links = ports.links();
    asked = JSON.stringify(links);
    try {
      const offers = links.length === 0 ? [] : await ports.ask(links, signal);
      const hardwareAddresses = await sendersOf(ports, { links, offers }, signal);
      const names = new Set(links.map(({ interfaceName }) => interfaceName));
      const round = { asked: names, served: names, offers, trusted: ports.trusted(), hardwareAddresses, now: ports.clock.now() };
      servers = noteOffers(servers, round);
      failure = null;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof EnvironmentError)) throw error;
      failure = problemOf(error);
    }
    const text = JSON.stringify(problems());
    if (text === reported) return;
    reported = text;
    if (text !== "[]") ports.log.warn({ problems: problems() }, "DHCP servers that are not ours");
    ports.onChange();
  }

  return {
    problems,
    nudge() {
      if (JSON.stringify(ports.links()) !== asked) bell.ring();
    },
    async run(signal) {
      if (ports.periodMs === 0) return;
      try {
        while (!signal.aborted) {
          await ports.clock.sleep(SETTLE_MS, signal);
          await bell.wait(0, signal); // what rang until now is answered by this round
          await look(signal);
          // Racks that started together must not ask together for ever.
          await bell.wait(ports.periodMs * (0.8 + 0.4 * ports.random()), signal);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
  };
}

/** By ARP, which finds a sender in any subnet, also in one that this host has no route to. The alarm does not wait for it to work. */
async function sendersOf(
  { prober, trusted, log }: DhcpServerWatchPorts,
  { links, offers }: { readonly links: readonly AskedLink[]; readonly offers: readonly HeardOffer[] },
  signal: AbortSignal,
): Promise<ReadonlyMap<IpAddress, HardwareAddress>> {
  const known = trusted();
  const strangers = new Map<IpAddress, WireTarget>();
  for (const { source, interfaceName } of offers) {
    const link = links.find((candidate) => candidate.interfaceName === interfaceName);
    if (link !== undefined && !known.has(source)) strangers.set(source, { address: source, interfaceName, source: link.address });
  }
  try {
    const results = strangers.size === 0 ? [] : await prober.probe([...strangers.values()], signal);
    return new Map(
      results.flatMap(({ target, hardwareAddresses: [first] }) =>
        first === undefined ? [] : [[target.address, first] as const],
      ),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof EnvironmentError)) throw error;
    log.warn({ reason: describeError(error) }, "the hardware address of a DHCP server stays unknown");
    return new Map();
  }
}

function problemOf(error: EnvironmentError): Problem {
  const { code, at, remedy } = error;
  const problem = { code, at, message: describeError(error) };
  return remedy === undefined ? problem : { ...problem, remedy };
}
