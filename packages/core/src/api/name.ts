import { z } from "zod";
import { pageQuerySchema } from "./page.js";

export const recordTypeSchema = z.enum(["A", "AAAA", "CNAME", "TXT"]);

/** A name in a zone: an operator's record, or the name that an allocation has. */
export const nameViewSchema = z
  .object({
    id: z.string().nullable().meta({ description: "Null for the name of an allocation: it goes with it." }),
    name: z.string(),
    type: recordTypeSchema,
    value: z.string(),
    source: z.enum(["record", "allocation"]),
    holder: z.string().nullable().meta({ description: "The allocation behind the name." }),
    createdAt: z.string(),
  })
  .meta({ id: "Name" });
export type NameView = z.infer<typeof nameViewSchema>;

export const nameQuerySchema = pageQuerySchema.extend({
  source: z.enum(["record", "allocation"]).exactOptional(),
  type: recordTypeSchema.exactOptional(),
  name: z.string().min(1).max(253).exactOptional().meta({ description: "Only names that contain this text." }),
});

/** Puts a record into the zone of a declared subnet's domain; letters outside ASCII become A-labels. */
export const recordCreateSchema = z.strictObject({
  name: z.string().min(1).max(1024),
  type: recordTypeSchema,
  value: z.string().min(1).max(1024),
});
export type RecordCreate = z.input<typeof recordCreateSchema>;
