import type { Problem } from "@berth/core";

/** What a hello tells of the agent behind a session. */
export interface Greeting {
  readonly hostname: string;
  /** Names one run of an agent. */
  readonly stream: string;
}

export interface Newcomer {
  readonly rack: string;
  readonly rackName: string;
  /** Whose session of the rack is open; null for none. */
  readonly standing: Greeting | null;
  readonly newcomer: Greeting;
}

/** So many swaps within the window are no restart: two hosts have the rack's identity. */
const SWAPS = 3;
const SWAP_WINDOW_MS = 60_000;
/** A refused host dials again at least every half minute; after this silence it is gone. */
const QUIET_MS = 300_000;
/** Runs of agents that are remembered for each rack. */
const STREAMS_MAX = 16;

interface Contest {
  rackName: string;
  /** Whose session was there first, or stood for long. */
  home: Greeting;
  /** Accepted last, and when. */
  latest: Greeting;
  latestAt: number;
  /** Runs that had a session, oldest first. */
  readonly streams: Set<string>;
  /** Times of swaps in the window. */
  swaps: number[];
  /** Set while two hosts are known to have the identity. */
  twins: { readonly rival: string; readonly at: number } | null;
  /** Both hosts call themselves the same, so that only their runs tell them apart. */
  namesakes: boolean;
}

/**
 * Tells a copied state folder from an agent that restarts. A run of an agent that was replaced by another and comes back cannot be a restart, nor
 * can hosts of two names that take the session from each other again and again. From then on the host that was there first keeps the session.
 * Times in milliseconds of a clock that never steps back.
 */
export class TwinWatch {
  readonly #now: () => number;
  readonly #contests = new Map<string, Contest>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Why the newcomer must not have the session; null when it is to have it, in place of the one that stands. */
  judge({ rack, rackName, standing, newcomer }: Newcomer): Problem | null {
    const now = this.#now();
    const contest = this.#contestOf(rack, newcomer, now);
    contest.rackName = rackName;
    if (standing !== null && standing.stream !== newcomer.stream) {
      this.#noteSwap(contest, { standing, newcomer, now });
      if (contest.twins !== null && !takesOver(contest, standing, newcomer)) {
        contest.twins = { rival: newcomer.hostname, at: now };
        return refusal(standing.hostname, rackName);
      }
      if (contest.twins !== null && isHome(contest, newcomer) && !isHome(contest, standing))
        contest.twins = { rival: standing.hostname, at: now };
    }
    if (contest.twins === null && now - contest.latestAt >= SWAP_WINDOW_MS) contest.home = contest.latest;
    remember(contest, newcomer, now);
    return null;
  }

  /** The racks whose identity two hosts have. */
  problems(): readonly Problem[] {
    const problems: Problem[] = [];
    for (const contest of this.#contests.values()) {
      this.#calm(contest, this.#now());
      if (contest.twins === null) continue;
      const { home, rackName, twins } = contest;
      const [first, second] = contest.namesakes
        ? [`one ${home.hostname}`, `another ${twins.rival}`]
        : [home.hostname, twins.rival];
      problems.push({
        code: "identity-twice",
        at: rackName,
        message: `two hosts link as rack ${rackName}: ${first} has the link, ${second} is refused`,
        remedy:
          "one of them runs on a copy of the other's state folder: stop its agent, empty the folder and join it as a rack of its own",
      });
    }
    return problems.sort((a, b) => (a.at < b.at ? -1 : 1));
  }

  /** The rack was removed, or its host replaced. */
  forget(rack: string): void {
    this.#contests.delete(rack);
  }

  #contestOf(rack: string, newcomer: Greeting, now: number): Contest {
    const known = this.#contests.get(rack);
    if (known !== undefined) {
      this.#calm(known, now);
      return known;
    }
    const fresh: Contest = {
      rackName: "",
      home: newcomer,
      latest: newcomer,
      latestAt: now,
      streams: new Set(),
      swaps: [],
      twins: null,
      namesakes: false,
    };
    this.#contests.set(rack, fresh);
    return fresh;
  }

  #calm(contest: Contest, now: number): void {
    if (contest.twins === null || now - contest.twins.at < QUIET_MS) return;
    contest.twins = null;
    contest.namesakes = false;
    contest.swaps = [];
  }

  #noteSwap(contest: Contest, { standing, newcomer, now }: { standing: Greeting; newcomer: Greeting; now: number }): void {
    const sameName = standing.hostname === newcomer.hostname;
    const returns = contest.streams.has(newcomer.stream);
    if (sameName && !returns) return; // a restart of one agent whose old connection is not known to be dead
    contest.swaps = [...contest.swaps.filter((at) => now - at < SWAP_WINDOW_MS), now].slice(-SWAPS);
    if (contest.twins !== null || contest.swaps.length < SWAPS) return;
    contest.namesakes = sameName;
    if (!isHome(contest, standing) && !isHome(contest, newcomer)) contest.home = standing;
    const named = [standing, newcomer].filter(({ hostname }) => isNamedSo(hostname, contest.rackName));
    const [owner] = named;
    if (named.length === 1 && owner !== undefined) contest.home = owner;
    contest.twins = { rival: isHome(contest, newcomer) ? standing.hostname : newcomer.hostname, at: now };
  }
}

/** The host that was there first gets its session back from the copy; a host gets it from itself. */
function takesOver(contest: Contest, standing: Greeting, newcomer: Greeting): boolean {
  if (!contest.namesakes && standing.hostname === newcomer.hostname) return true;
  return isHome(contest, newcomer) && !isHome(contest, standing);
}

function isHome({ home, namesakes }: Contest, { hostname, stream }: Greeting): boolean {
  return stream === home.stream || (!namesakes && hostname === home.hostname);
}

function remember(contest: Contest, newcomer: Greeting, now: number): void {
  if (contest.latest.stream !== newcomer.stream) contest.latestAt = now;
  contest.latest = newcomer;
  contest.streams.delete(newcomer.stream);
  contest.streams.add(newcomer.stream);
  const [oldest] = contest.streams;
  if (contest.streams.size > STREAMS_MAX && oldest !== undefined) contest.streams.delete(oldest);
}

/** A rack that was named by nobody has the name of the host that joined. */
function isNamedSo(hostname: string, rackName: string): boolean {
  const name = hostname.toLowerCase();
  return name === rackName || name.split(".", 1)[0] === rackName;
}

function refusal(holder: string, rackName: string): Problem {
  return {
    code: "identity-twice",
    at: `rack ${rackName}`,
    message: `the host ${holder} has the link of rack ${rackName}, whose identity this host has too`,
    remedy: "if this host's state folder is a copy, empty it and join this host as a rack of its own",
  };
}
