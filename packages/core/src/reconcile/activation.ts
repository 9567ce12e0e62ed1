import { z } from "zod";

/** How an activation ended. `interrupted`: the agent ended within it; the next one looks at the facts. */
export const activationOutcomeSchema = z.enum(["serves", "stopped", "refused", "rolled-back", "failed", "interrupted"]);
export type ActivationOutcome = z.infer<typeof activationOutcomeSchema>;

/** One attempt to make a daemon run something, as it is remembered and shown. */
export const activationSchema = z.object({
  /** When it began, ISO 8601 in UTC. */
  at: z.string(),
  /** What was tried: `activate` writes and restarts, `start` restarts, `rewrite` puts the file right, `revive` ends one that answers no more. */
  step: z.enum(["activate", "start", "rewrite", "stop", "revive"]),
  /** Generation of the desired state; null when none decided it. */
  generation: z.number().nullable(),
  /** Digests of what was to run and of what ran before; null for nothing. */
  desired: z.string().nullable(),
  before: z.string().nullable(),
  outcome: activationOutcomeSchema,
  /** Milliseconds; null while it is not known. */
  tookMs: z.number().nullable(),
  /** Why it did not come to serve, the checker's own words among them; null when all went well. */
  problem: z.object({ code: z.string(), at: z.string(), message: z.string(), remedy: z.string().optional() }).nullable(),
});
export type Activation = z.infer<typeof activationSchema>;

/** Remembered of each daemon. */
export const ACTIVATIONS_MAX = 50;

/** The history with one more entry, oldest first; one that is shown with the same beginning takes the place of the earlier. */
export function rememberActivation(history: readonly Activation[], entry: Activation): readonly Activation[] {
  const others = history.filter(({ at, step }) => at !== entry.at || step !== entry.step);
  return [...others, entry].slice(-ACTIVATIONS_MAX);
}
