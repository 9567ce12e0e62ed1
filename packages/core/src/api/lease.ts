import { z } from "zod";
import { pageQuerySchema } from "./page.js";

const leaseStateSchema = z.enum(["free", "active", "expired", "released", "abandoned", "reset", "backup", "unknown"]);

/** One lease as its rack reported it; times ISO 8601 UTC, null unknown. `inUse` has lapsed by the coordinator's clock. */
export const leaseViewSchema = z
  .object({
    address: z.string(),
    state: leaseStateSchema,
    inUse: z.boolean(),
    hardwareAddress: z.string().nullable(),
    name: z.string().nullable().meta({ description: "The name the client claimed, as far as it could stand in a zone." }),
    starts: z.string().nullable(),
    ends: z.string().nullable().meta({ description: "ISO 8601, `never`, or null when unknown." }),
    rack: z.string(),
    stale: z.boolean().meta({ description: "The rack is not connected: this is what it said last." }),
    machine: z.string().nullable().meta({ description: "Id of the machine that has this NIC." }),
  })
  .meta({ id: "Lease" });
export type LeaseView = z.infer<typeof leaseViewSchema>;

const partialText = z.string().min(1).max(253).exactOptional();

/** Filters of the lease list: parts of an address, MAC or name match; rack and state match whole. All given ones must match. */
export const leaseQuerySchema = pageQuerySchema.extend({
  address: partialText,
  mac: partialText,
  name: partialText,
  rack: partialText,
  state: leaseStateSchema.exactOptional(),
  inUse: z.enum(["true", "false"]).exactOptional(),
});
export type LeaseQuery = z.infer<typeof leaseQuerySchema>;
