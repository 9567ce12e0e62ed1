import { z } from "zod";

/** What every change of the ledger takes: with `dry_run=true` it is decided and answered as always, and nothing of it is kept. */
export const changeQuerySchema = z.strictObject({ dry_run: z.enum(["true", "false"]).exactOptional() });
export type ChangeQuery = z.infer<typeof changeQuerySchema>;

/** Beside the body of a change; header names as Node has them. Headers of others are let through. */
export const changeHeadersSchema = z.looseObject({
  "idempotency-key": z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/, "not 1 to 128 printable characters without blanks")
    .exactOptional()
    .meta({ description: "The same key with the same request again, within a day, gets the answer that was given first." }),
  "if-match": z
    .string()
    .max(1024)
    .exactOptional()
    .meta({ description: "Entity tags: the change is refused (412) unless what it changes still has one of them." }),
});
