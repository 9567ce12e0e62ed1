import { dirname } from "node:path";
import type { Problem } from "@berth/core";
import type { Clock, Files, Log } from "@berth/host";
import type { DhcpServer } from "../dhcp/dhcp-server.js";
import type { Attempt } from "./activation-history.js";
import { attemptStep } from "./daemon-status.js";
import type { DhcpGoal } from "./dhcp-goal.js";
import type { ManagedConfig } from "./managed-config.js";

export interface DhcpActivationPorts {
  readonly server: DhcpServer;
  readonly file: ManagedConfig;
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
}

/** Content to run, and its digest. */
export interface Content {
  readonly text: string | Uint8Array;
  readonly digest: string;
}

/** So often a server that says it serves is asked, before it is taken not to. */
const VERIFY_MAX = 4;

/** Checks the content, puts it in the file's place and has the server run it; what does not come to serve makes room for what served last. */
export async function activate(ports: DhcpActivationPorts, goal: DhcpGoal, content: Content): Promise<Attempt> {
  const { server, file, files } = ports;
  let refusal: Problem | null = null;
  const problem = await attemptStep(async () => {
    await files.ensureDirectory(dirname(server.config));
    const written = files.write(file.candidate, content.text);
    written.catch(() => undefined); // thrown below, when the check has ended
    refusal = await server.validate({ path: file.candidate, goal, written });
    await written;
    if (refusal !== null) {
      await files.remove(file.candidate);
      return refusal;
    }
    await file.replaceByCandidate(content.digest);
    return null;
  });
  if (problem !== null) return { outcome: refusal === null ? "failed" : "refused", problem };
  return bringUp(ports, goal, { digest: content.digest, mayRollBack: true });
}

/** Puts the file right under a server that runs the very same content. */
export async function rewrite({ file, files }: DhcpActivationPorts, content: Content): Promise<Attempt> {
  const problem = await attemptStep(async () => {
    await files.write(file.candidate, content.text);
    await file.replaceByCandidate(content.digest);
    return null;
  });
  return { outcome: problem === null ? "serves" : "failed", problem };
}

/** Has the server run the file as it lies on disk, whose digest this is. */
export async function bringUp(
  ports: DhcpActivationPorts,
  goal: DhcpGoal,
  { digest, mayRollBack }: { readonly digest: string; readonly mayRollBack: boolean },
): Promise<Attempt> {
  const { server, file, log } = ports;
  const problem = await attemptStep(() => serve(ports, goal, digest));
  if (problem === null) {
    const unkept = await attemptStep(async () => (await file.noteGood(digest), null));
    if (unkept !== null) log.warn({ problem: unkept }, "it serves, but what served last could not be kept");
    return { outcome: "serves", problem: null };
  }
  const good = mayRollBack ? await file.lastGood() : null;
  if (good === null) return { outcome: "failed", problem };
  // The last good file comes back, and with it the service, before anything is reported.
  const again = await attemptStep(async () => {
    await file.restoreGood();
    // Nothing was stopped where there is no room for a start.
    return (await server.running()) === tagOf(good, goal) ? null : serve(ports, goal, good);
  });
  if (again === null) return { outcome: "rolled-back", problem };
  const message = `${problem.message}; what served last does not come back either: ${again.message}`;
  return { outcome: "failed", problem: { ...problem, message } };
}

async function serve(ports: DhcpActivationPorts, goal: DhcpGoal, digest: string): Promise<Problem | null> {
  const problem = await ports.server.apply({ links: goal.links, tag: tagOf(digest, goal) });
  return problem ?? verify(ports, goal);
}

/** That it says it serves is not enough: it has to answer. */
async function verify({ server, file }: DhcpActivationPorts, goal: DhcpGoal): Promise<Problem | null> {
  for (let n = 1; ; n++) {
    const answer = await server.ask(goal.probes);
    if (answer.kind === "unasked") return null; // told at the next look; nothing is known against the server
    if (answer.kind === "answers") {
      if (goal.probes.length > 0) await file.noteHeard();
      return null;
    }
    if (n >= VERIFY_MAX) return file.wasHeard() ? silentProblem(server, answer.links) : null;
  }
}

export function silentProblem({ name, config, log }: DhcpServer, links: readonly string[]): Problem {
  const message = `${name} runs but does not answer on ${links.join(", ")}`;
  return { code: `${name}-not-answering`, at: config, message, remedy: `it is started again; see ${log}` };
}

/** Not a failure: where no question ever was answered, silence says nothing about the server. But then a hung one is not noticed either. */
export function unverifiedProblem({ name, config, log }: DhcpServer, links: readonly string[]): Problem {
  const message = `${name} says that it serves, but never answered a question of this agent's on ${links.join(", ")}: it is not known whether it answers`;
  const remedy = `see whether a packet filter drops what the rack sends to itself (UDP ports 67 and 68, or 546 and 547), and what ${log} says`;
  return { code: `${name}-unverified`, at: config, message, remedy };
}

/** What a process is started with: the digest of its file, and the links it was bound to. */
export function tagOf(digest: string, goal: Pick<DhcpGoal, "linkMark">): string {
  return `${digest} ${goal.linkMark}`;
}
