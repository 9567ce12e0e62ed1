import { z } from "zod";

/** Each role may do all that the ones before it may. */
export const roleSchema = z.enum(["read", "operate", "admin"]);

const TTL_SECONDS_MAX = 10 * 366 * 86_400;

export const apiTokenNameSchema = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/,
    "not a token name: lower-case letters, digits, inner dots, hyphens and underscores, at most 63",
  );

export const apiTokenCreateSchema = z.strictObject({
  name: apiTokenNameSchema,
  role: roleSchema,
  ttlSeconds: z
    .int()
    .min(60)
    .max(TTL_SECONDS_MAX)
    .exactOptional()
    .meta({ description: "Left out, it lives until it is revoked." }),
});

export const apiTokenViewSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    role: roleSchema,
    createdAt: z.string(),
    createdBy: z.string(),
    expiresAt: z.string().nullable(),
  })
  .meta({ id: "ApiToken" });
export type ApiTokenView = z.infer<typeof apiTokenViewSchema>;

export const createdApiTokenViewSchema = apiTokenViewSchema
  .extend({ token: z.string().meta({ description: "Shown this once; only its digest is kept." }) })
  .meta({ id: "CreatedApiToken" });
export type CreatedApiTokenView = z.infer<typeof createdApiTokenViewSchema>;
