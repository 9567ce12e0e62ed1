import { z } from "zod";

const memberSchema = z.object({ rack: z.string(), interface: z.string() });

/** A network of a site: one that racks have addresses in, one that an operator declared, or both. */
export const networkViewSchema = z
  .object({
    site: z.string(),
    prefix: z.string(),
    state: z.enum(["declared", "proposed", "unseen"]).meta({
      description:
        "declared: a subnet that racks are on. proposed: racks are on it and nobody declared it. unseen: declared, and no rack is on it.",
    }),
    subnet: z.int().nullable().meta({ description: "Number of the declared subnet." }),
    racks: z
      .array(z.object({ name: z.string(), addresses: z.array(z.string()) }))
      .meta({ description: "Racks with their real addresses in it." }),
    segment: z
      .object({ name: z.string(), members: z.array(memberSchema) })
      .nullable()
      .meta({ description: "The broadcast domain that it is on, named after its first member, as far as racks can tell." }),
    discrepancies: z.array(z.string()).meta({ description: "What racks disagree on, in words." }),
  })
  .meta({ id: "Network" });
export type NetworkView = z.infer<typeof networkViewSchema>;
