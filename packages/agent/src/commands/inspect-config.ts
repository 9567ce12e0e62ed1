import { accepted, ipAddressSchema, issueText, refused, type Result } from "@berth/core";
import { YAMLError, parse } from "yaml";
import { z } from "zod";

/** The part of a configuration that `inspect` needs; the rest of the file is the daemon's business. */
const addressConfigSchema = z.looseObject({
  addresses: z
    .strictObject({ real: z.array(ipAddressSchema).default([]), vips: z.array(ipAddressSchema).default([]) })
    .prefault({}),
});
export type AddressConfig = z.infer<typeof addressConfigSchema>["addresses"];

/** Aliases in a configuration of this size are an attack, not a wish. */
const ALIASES_MAX = 100;

/** Reads `addresses.real` and `addresses.vips` of a YAML or JSON text; all problems at once, each with its path. */
export function readAddressConfig(text: string, file: string): Result<AddressConfig> {
  let document: unknown;
  try {
    document = parse(text, { maxAliasCount: ALIASES_MAX }) ?? {};
  } catch (error) {
    if (!(error instanceof YAMLError || error instanceof ReferenceError)) throw error;
    return refused({ code: "config-malformed", at: file, message: error.message.split("\n")[0] ?? "not YAML" });
  }
  const checked = addressConfigSchema.safeParse(document);
  if (checked.success) return accepted(checked.data.addresses);
  return refused(
    ...checked.error.issues.map((issue) => ({
      code: "config-invalid",
      at: `${file}:${issue.path.join(".")}`,
      message: issueText(issue),
    })),
  );
}
