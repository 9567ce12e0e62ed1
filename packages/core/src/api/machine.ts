import { z } from "zod";
import { hardwareAddressSchema, ipAddressSchema } from "../desired/schema.js";
import { allocationViewSchema, warningsSchema } from "./allocation.js";
import { leaseViewSchema } from "./lease.js";
import { pageQuerySchema } from "./page.js";

export const machineViewStateSchema = z.enum(["sighted", "enlisted", "enrolled", "released"]);

/**
 * A machine of the ledger, or a sighting: a lease in use whose NIC belongs to no machine. A sighting has no id and goes when the lease
 * lapses.
 */
export const machineViewSchema = z
  .object({
    id: z.string().nullable(),
    state: machineViewStateSchema,
    name: z.string().nullable().meta({ description: "Chosen by a person; null keeps the pre-made name of its address." }),
    nics: z.array(z.string()),
    addresses: z.array(z.object({ address: z.string(), subnet: z.string(), name: z.string(), kind: z.string() })),
    leases: z.array(leaseViewSchema).meta({ description: "Leases in use by its NICs, newest first." }),
    rack: z.string().nullable().meta({ description: "The rack that saw one of its NICs last." }),
    seenAt: z.string().nullable().meta({ description: "Start of the newest lease of its NICs, in use or over." }),
    createdAt: z.string().nullable(),
  })
  .meta({ id: "Machine" });
export type MachineView = z.infer<typeof machineViewSchema>;

export const machineQuerySchema = pageQuerySchema.extend({ state: machineViewStateSchema.exactOptional() });

/** Gives a machine its static address and name. One call claims and answers; the same call again gets the same answer. */
export const enrollSchema = z.strictObject({
  nics: z.array(hardwareAddressSchema).min(1).max(64),
  name: z.string().min(1).max(253).nullable().exactOptional(),
  subnet: z.string().min(1).max(64).nullable().exactOptional(),
  address: ipAddressSchema.nullable().exactOptional(),
});
export type Enroll = z.input<typeof enrollSchema>;

/** Writes a machine down that has no address yet; its name is the one it shall have. */
export const enlistSchema = z.strictObject({
  nics: z.array(hardwareAddressSchema).min(1).max(64),
  name: z.string().min(1).max(253).nullable().exactOptional(),
});
export type Enlist = z.input<typeof enlistSchema>;

/** Changes what it names and leaves the rest; a null name gives the pre-made names back. */
export const machineChangeSchema = z.strictObject({
  name: z.string().min(1).max(253).nullable().exactOptional(),
  addNics: z.array(hardwareAddressSchema).max(64).exactOptional(),
  removeNics: z.array(hardwareAddressSchema).max(64).exactOptional(),
});
export type MachineChangeBody = z.input<typeof machineChangeSchema>;

export const enrolledViewSchema = z
  .object({
    machine: machineViewSchema,
    allocation: allocationViewSchema,
    created: z.boolean().meta({ description: "False when the same request was answered before." }),
    warnings: warningsSchema,
  })
  .meta({ id: "Enrolled" });
export type EnrolledView = z.infer<typeof enrolledViewSchema>;
