import { join } from "node:path";
import {
  canonicalJson,
  desiredChangeSchema,
  desiredStateSchema,
  diffDesired,
  patchDesired,
  type DesiredDigests,
  type DesiredState,
  type Problem,
} from "@berth/core";
import { parseJsonOrNull, sha256, type Files } from "@berth/host";
import { z } from "zod";

/**
 * A desired state in the state folder: whole in `desired.json` and, for a while, as what changes of that in `desired.change.json`, which costs hardly anything
 * to write. `desired.previous.json` is the `desired.json` of before. Everything is checksummed, and no file is ever half written.
 */
export interface DesiredFiles {
  /** Durable when it resolves; if it throws, what was kept before still is. */
  keep(state: DesiredState): Promise<void>;
  /** Puts into `desired.json` what was kept last. */
  fold(): Promise<void>;
}

export interface FoundDesired {
  readonly state: DesiredState | null;
  /** The first file that is not as we wrote it. */
  readonly problem: Problem | null;
  readonly files: DesiredFiles;
}

interface DesiredFilesPorts {
  readonly files: Files;
  readonly stateDir: string;
  readonly digests: DesiredDigests;
}

const FILE_MAX = 256 * 1024 * 1024;
/** A change that grew larger is not worth keeping beside the whole. */
const CHANGE_MAX = 256 * 1024;
const MODE = 0o600;

export async function openDesiredFiles(ports: DesiredFilesPorts): Promise<FoundDesired> {
  const [path, previous] = [join(ports.stateDir, "desired.json"), join(ports.stateDir, "desired.previous.json")];
  let problem: Problem | null = null;
  for (const from of [path, previous]) {
    const whole = await readWhole(ports, from);
    problem ??= whole.problem;
    if (whole.state === null) continue;
    const changed = await readChange(ports, whole.state);
    problem ??= changed.problem;
    const kept = { whole: whole.state, at: from, newest: changed.state };
    return { state: changed.state, problem, files: new KeptDesired(ports, kept, problem !== null) };
  }
  return { state: null, problem, files: new KeptDesired(ports, null, true) };
}

interface Kept {
  readonly whole: DesiredState;
  /** The file in which it lies. */
  readonly at: string;
  /** What the change beside it leads to. */
  readonly newest: DesiredState;
}

class KeptDesired implements DesiredFiles {
  readonly #ports: DesiredFilesPorts;
  #kept: Kept | null;
  /** A file is damaged or missing: all of them are written anew. */
  #isDamaged: boolean;

  constructor(ports: DesiredFilesPorts, kept: Kept | null, isDamaged: boolean) {
    this.#ports = ports;
    this.#kept = kept;
    this.#isDamaged = isDamaged;
  }

  async keep(state: DesiredState): Promise<void> {
    const { files, digests } = this.#ports;
    const change = this.#kept === null || this.#isDamaged ? null : diffDesired(this.#kept.whole, state, (of) => digests.of(of));
    const text = change === null ? "" : JSON.stringify(change);
    if (this.#kept === null || change === null || text.length > CHANGE_MAX) return this.#writeWhole(state);
    await files.replace(this.#path("desired.change.json"), text, MODE);
    this.#kept = { ...this.#kept, newest: state };
  }

  async fold(): Promise<void> {
    if (this.#kept !== null && this.#kept.newest !== this.#kept.whole) await this.#writeWhole(this.#kept.newest);
  }

  /** The change that lies there goes on leading from the one before to what was kept, so that whatever interrupts this costs nothing. */
  async #writeWhole(state: DesiredState): Promise<void> {
    const { files, digests } = this.#ports;
    const [path, next] = [this.#path("desired.json"), this.#path("desired.next.json")];
    await files.replace(next, JSON.stringify({ digest: digests.of(state), state }), MODE);
    if (this.#kept?.at === path) {
      const previous = this.#path("desired.previous.json");
      await files.move(path, previous);
      this.#kept = { ...this.#kept, at: previous };
    }
    await files.move(next, path);
    this.#kept = { whole: state, at: path, newest: state };
    this.#isDamaged = false;
  }

  #path(name: string): string {
    return join(this.#ports.stateDir, name);
  }
}

const envelopeSchema = z.strictObject({ digest: z.string(), state: z.unknown() });

interface Read {
  readonly state: DesiredState | null;
  readonly problem: Problem | null;
}

async function readWhole({ files, digests }: DesiredFilesPorts, path: string): Promise<Read> {
  const content = await files.read(path, FILE_MAX);
  if (content === null) return { state: null, problem: null };
  const envelope = envelopeSchema.safeParse(parseJsonOrNull(Buffer.from(content).toString("utf8")));
  if (!envelope.success) return damaged(path, "the saved desired state is not readable as JSON");
  const parsed = desiredStateSchema.safeParse(envelope.data.state);
  if (!parsed.success) return damaged(path, "the saved desired state is of another format");
  const { digest } = envelope.data;
  // The second is how agents named it before there were changes.
  const isWhole = digests.of(parsed.data) === digest || sha256(canonicalJson(parsed.data)) === digest;
  return isWhole ? { state: parsed.data, problem: null } : damaged(path, "the saved desired state fails its checksum");
}

/** The state after the change that lies there; a change of another state is a leftover. */
async function readChange(
  { files, stateDir, digests }: DesiredFilesPorts,
  whole: DesiredState,
): Promise<{ readonly state: DesiredState; readonly problem: Problem | null }> {
  const path = join(stateDir, "desired.change.json");
  const content = await files.read(path, FILE_MAX);
  if (content === null) return { state: whole, problem: null };
  const parsed = desiredChangeSchema.safeParse(parseJsonOrNull(Buffer.from(content).toString("utf8")));
  if (!parsed.success) return { ...damaged(path, "the saved change of the desired state is not readable"), state: whole };
  const { base, digest } = parsed.data;
  if (base.generation !== whole.generation || base.digest !== digests.of(whole)) return { state: whole, problem: null };
  const state = patchDesired(whole, parsed.data);
  if (state !== null && digests.of(state) === digest) return { state, problem: null };
  return { ...damaged(path, "the saved change of the desired state fails its checksum"), state: whole };
}

function damaged(at: string, message: string): { readonly state: null; readonly problem: Problem } {
  const remedy = "what runs goes on; the region sends it again when it is reached";
  return { state: null, problem: { code: "desired-damaged", at, message, remedy } };
}
