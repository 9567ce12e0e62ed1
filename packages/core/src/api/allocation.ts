import { z } from "zod";
import { hardwareAddressSchema, ipAddressSchema } from "../desired/schema.js";
import { apiProblemSchema } from "./error.js";
import { pageQuerySchema } from "./page.js";

export const allocationKindSchema = z.enum(["machine", "additional", "vip"]);
export const deliverySchema = z.enum(["dhcp", "config", "both"]);

export const verificationSchema = z.enum(["verified", "unverified", "in-use-by-other"]).meta({
  description:
    "`verified`: probed on the wire shortly before it was given or since, and nobody else answers; `unverified`: no rack looked yet; `in-use-by-other`: somebody else answers.",
});

/** What speaks against an address that was given all the same; left out when nothing does. */
export const warningsSchema = z.array(apiProblemSchema).exactOptional();

export const allocationViewSchema = z
  .object({
    id: z.string(),
    kind: allocationKindSchema,
    address: z.string(),
    name: z.string(),
    subnet: z.string(),
    subnetId: z.int(),
    machineId: z.string().nullable(),
    nics: z.array(z.string()),
    owners: z.array(z.string()),
    delivery: deliverySchema,
    verification: verificationSchema,
    createdAt: z.string(),
  })
  .meta({ id: "Allocation" });
export type AllocationView = z.infer<typeof allocationViewSchema>;

export const allocationQuerySchema = pageQuerySchema.extend({
  subnet: z.string().min(1).max(64).exactOptional(),
  machine: z.string().min(1).max(64).exactOptional(),
  kind: allocationKindSchema.exactOptional(),
});

const reference = z.string().min(1).max(253);
const label = z.string().min(1).max(253).nullable().exactOptional();
const subnet = z.string().min(1).max(64).nullable().exactOptional();
const address = ipAddressSchema.nullable().exactOptional();
const key = z.string().min(1).max(128).nullable().exactOptional();

const OWNERS_MAX = 64;
export const BULK_ITEMS_MAX = 1000;

const machineAddressSchema = z.strictObject({ kind: z.literal("machine"), machine: reference, subnet, address });
const additionalSchema = z.strictObject({
  kind: z.literal("additional"),
  machine: reference,
  subnet,
  address,
  name: label,
  key,
  delivery: deliverySchema.exactOptional(),
  nic: hardwareAddressSchema.nullable().exactOptional(),
});
export const vipCreateSchema = z.strictObject({
  owners: z.array(reference).min(1).max(OWNERS_MAX),
  subnet,
  address,
  name: label,
  key: key.meta({ description: "The owners' key for it: whoever repeats it gets the same address and becomes an owner." }),
});

/**
 * One address: `machine` for a known machine in one more subnet, `additional` for one more address of a machine. Without an address the ledger
 * chooses; a specific one that another holds is refused with its holder.
 */
export const allocateSchema = z.discriminatedUnion("kind", [machineAddressSchema, additionalSchema]);
export type Allocate = z.input<typeof allocateSchema>;

/** Many at once, all or nothing; later items see what earlier ones got. */
export const allocateManySchema = z.strictObject({
  items: z
    .array(
      z.discriminatedUnion("kind", [
        z.strictObject({
          kind: z.literal("enroll"),
          nics: z.array(hardwareAddressSchema).min(1).max(64),
          name: label,
          subnet,
          address,
        }),
        machineAddressSchema,
        additionalSchema,
        vipCreateSchema.extend({ kind: z.literal("vip") }),
      ]),
    )
    .min(1)
    .max(BULK_ITEMS_MAX),
});
export type AllocateMany = z.input<typeof allocateManySchema>;

export const allocatedViewSchema = z
  .object({
    allocation: allocationViewSchema,
    created: z.boolean().meta({ description: "False when the same request was answered before." }),
    warnings: warningsSchema,
  })
  .meta({ id: "Allocated" });
export type AllocatedView = z.infer<typeof allocatedViewSchema>;

export const allocatedManyViewSchema = z.object({ items: z.array(allocatedViewSchema) }).meta({ id: "AllocatedMany" });
export type AllocatedManyView = z.infer<typeof allocatedManyViewSchema>;
