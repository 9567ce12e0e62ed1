import type { Command } from "commander";
import {
  formatProblem,
  parseFingerprint,
  parseJoinToken,
  parseRegionAddress,
  rackNameSchema,
  type Problem,
  type RegionAddress,
} from "@berth/core";
import { EnvironmentError, describeError, type Clock, type Files } from "@berth/host";
import { ensureCandidate, identityFrom, loadIdentity, saveIdentity } from "../identity/identity.js";
import { joinRegion } from "../link/join-region.js";
import { authorityFingerprint } from "../link/pin-region.js";

/** What the command needs of the process. */
export interface JoinPorts {
  readonly files: Files;
  readonly clock: Clock;
  readonly hostname: string;
  readonly version: string;
  readonly defaultState: string;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  /** 0 joined, 2 the line or its token is no good, 3 the region or this host is in trouble. */
  readonly exit: (code: 0 | 2 | 3) => void;
}

interface JoinArguments {
  readonly address: RegionAddress;
  readonly joinedAt: string;
  readonly token: string;
  readonly fingerprint: string;
  readonly state: string;
  readonly name: string | null;
}

/** `berth-agent join HOST:PORT TOKEN FINGERPRINT`: the line that `berth token create` prints. Typing it again is safe. */
export function registerJoin(program: Command, ports: JoinPorts): void {
  program
    .command("join")
    .description("make this host a rack of a region; the whole line comes from: berth token create")
    .argument("<address>", "HOST:PORT of the coordinator's link")
    .argument("<token>", "ID.SECRET, good for one host and a short time")
    .argument("<fingerprint>", "sha256:HEX of the region's CA; nothing is sent to a server that does not match")
    .option("--state <dir>", "folder of the agent's state", ports.defaultState)
    .option("--name <name>", "name of the rack for people (default: the token's, else this host's name)")
    .action(
      async (
        address: string,
        token: string,
        fingerprint: string,
        options: { readonly state: string; readonly name?: string },
      ) => {
        const parsed = readArguments({ address, token, fingerprint, ...options });
        const code = "problems" in parsed ? report(ports, 2, parsed.problems) : await join(ports, parsed);
        ports.exit(code);
      },
    );
}

async function join(ports: JoinPorts, order: JoinArguments): Promise<0 | 2 | 3> {
  try {
    const present = await loadIdentity(order.state, ports.files);
    if (present !== null && authorityFingerprint(present.ca) !== order.fingerprint)
      return report(ports, 2, [
        {
          code: "joined-elsewhere",
          at: order.state,
          message: `this host is rack ${present.name} of another region`,
          remedy: "to move it, stop the agent, remove link/identity.json from the state folder and join again",
        },
      ]);
    const candidate = await ensureCandidate(order.state, ports.files);
    const answer = await joinRegion({ ...order, candidate, hostname: ports.hostname, version: ports.version }, ports.clock);
    if (!answer.ok) return report(ports, answer.problems.some(isTemporary) ? 3 : 2, answer.problems);
    const identity = identityFrom(answer.value, candidate, order.joinedAt);
    await saveIdentity(order.state, ports.files, identity);
    ports.print(`joined as rack ${identity.name} (${identity.rack}); start the agent with: berth-agent run`);
    return 0;
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    const { code, at, remedy } = error;
    const message = describeError(error);
    return report(ports, 3, [remedy === undefined ? { code, at, message } : { code, at, message, remedy }]);
  }
}

/** The line is good, but the region cannot answer it now. */
function isTemporary({ code }: Problem): boolean {
  return code === "rate-limited" || code === "join-failed";
}

/** All that is wrong with the line at once. */
function readArguments(given: {
  readonly address: string;
  readonly token: string;
  readonly fingerprint: string;
  readonly state: string;
  readonly name?: string;
}): JoinArguments | { readonly problems: readonly Problem[] } {
  const address = parseRegionAddress(given.address);
  const fingerprint = parseFingerprint(given.fingerprint);
  const name = rackNameSchema.nullable().safeParse(given.name ?? null);
  const problems: Problem[] = address.ok ? [] : [...address.problems];
  if (parseJoinToken(given.token) === null) problems.push(bad("token", "not a join token", "it looks like ID.SECRET"));
  if (fingerprint === null) problems.push(bad("fingerprint", "not a fingerprint", "it is sha256: and 64 hex digits"));
  if (!name.success) problems.push(bad("--name", "not a name for a rack", "use lower-case letters, digits, hyphens and dots"));
  if (!address.ok || fingerprint === null || !name.success || problems.length > 0) return { problems };
  const { token, state } = given;
  return { address: address.value, joinedAt: given.address, token, fingerprint, state, name: name.data };
}

function bad(at: string, message: string, remedy: string): Problem {
  return { code: "argument-invalid", at, message, remedy: `${remedy}; copy the whole line that berth token create printed` };
}

function report(ports: JoinPorts, code: 2 | 3, problems: readonly Problem[]): 2 | 3 {
  for (const problem of problems) ports.printError(formatProblem(problem));
  return code;
}
