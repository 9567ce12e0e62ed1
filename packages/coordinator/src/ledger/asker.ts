/** Who asks for a change, and how. */
export interface Asker {
  /** For the audit log. */
  readonly actor: string;
  /** Decides and answers as always, and keeps nothing of it. */
  readonly dryRun?: boolean;
  /** The actor's own key for this request, and a digest of the request: repeated within a day, it gets the answer that was given first. */
  readonly once?: { readonly key: string; readonly request: string };
  /** The change is refused unless what it changes has one of these entity tags now; `*` stands for any. */
  readonly ifMatch?: readonly string[];
}

/** A name alone asks plainly. */
export type By = string | Asker;

const COORDINATOR: Asker = { actor: "coordinator" };

export function askerOf(by: By | undefined): Asker {
  return by === undefined ? COORDINATOR : typeof by === "string" ? { actor: by } : by;
}
