import { join } from "node:path";
import { acceptDesired, canonicalJson, desiredStateSchema, type DesiredState, type Problem } from "@berth/core";
import { EnvironmentError, sha256, type Files } from "@berth/host";
import { z } from "zod";

/** The desired state this rack acts on: on disk before anything acts on it, checksummed, so that a rack boots without a region. */
export interface DesiredKeeper {
  current(): DesiredState | null;
  /** Takes it if it is newer: it is on disk when this resolves. Null: accepted or held already; else why not, and the old one stays. */
  offer(state: DesiredState): Promise<Problem | null>;
  /** What was wrong with the file found at start, if anything. */
  problem(): Problem | null;
}

const envelopeSchema = z.strictObject({ digest: z.string(), state: z.unknown() });
const FILE_MAX = 256 * 1024 * 1024;

export async function openDesiredKeeper(ports: {
  readonly files: Files;
  readonly stateDir: string;
  readonly rack: string;
  onAccepted(): void;
}): Promise<DesiredKeeper> {
  const path = join(ports.stateDir, "desired.json");
  const previousPath = join(ports.stateDir, "desired.previous.json");
  const found = await readNewestWhole(ports.files, [path, previousPath]);
  let held = found.state;
  let problem = found.problem;
  let writing: Promise<unknown> = Promise.resolve();

  async function take(state: DesiredState): Promise<Problem | null> {
    const acceptance = acceptDesired(ports.rack, held, state);
    if (acceptance.kind === "refused") return acceptance.problem;
    if (acceptance.kind === "same") return null;
    if (held !== null) await ports.files.replace(previousPath, envelope(held), 0o600);
    await ports.files.replace(path, envelope(state), 0o600);
    held = state;
    problem = null;
    ports.onAccepted();
    return null;
  }

  return {
    current: () => held,
    problem: () => problem,
    offer(state) {
      // One at a time: two offers at once must not both pass the check against the same held state.
      const turn = writing.then(() => take(state));
      writing = turn.catch(() => undefined);
      return turn;
    },
  };
}

function envelope(state: DesiredState): string {
  return JSON.stringify({ digest: sha256(canonicalJson(state)), state });
}

/** The first file that is whole; the problem of the first that is not stays on record. */
async function readNewestWhole(
  files: Files,
  paths: readonly string[],
): Promise<{ state: DesiredState | null; problem: Problem | null }> {
  let problem: Problem | null = null;
  for (const path of paths) {
    const found = await readHeld(files, path);
    if ("state" in found && found.state !== null) return { state: found.state, problem };
    if ("problem" in found) problem ??= found.problem;
  }
  return { state: null, problem };
}

async function readHeld(files: Files, path: string): Promise<{ state: DesiredState | null } | { problem: Problem }> {
  const content = await files.read(path, FILE_MAX);
  if (content === null) return { state: null };
  const damaged = (message: string): { problem: Problem } => ({
    problem: {
      code: "desired-damaged",
      at: path,
      message,
      remedy: "what runs goes on; the region sends it again when it is reached",
    },
  });
  try {
    const { digest, state } = envelopeSchema.parse(JSON.parse(Buffer.from(content).toString("utf8")));
    const parsed = desiredStateSchema.safeParse(state);
    if (!parsed.success) return damaged("the saved desired state is of another format");
    return sha256(canonicalJson(parsed.data)) === digest
      ? { state: parsed.data }
      : damaged("the saved desired state fails its checksum");
  } catch (error) {
    if (error instanceof EnvironmentError) throw error;
    return damaged("the saved desired state is not readable as JSON");
  }
}
