import { z } from "zod";
import { IMPORT_ROWS_MAX } from "../import/import-row.js";
import { enrollSchema } from "./machine.js";
import { subnetCreateSchema } from "./subnet.js";

/**
 * Declares subnets and enrolls machines: all of them, or none when one is refused. Every refusal says which, as `subnets[2]` or `machines[12]`. A subnet
 * that is declared already must be as it is asked for.
 */
export const importSchema = z.strictObject({
  subnets: z.array(subnetCreateSchema).max(4096).default([]),
  machines: z.array(enrollSchema).max(IMPORT_ROWS_MAX),
});

export const importedSubnetSchema = z
  .object({ id: z.int(), prefix: z.string(), created: z.boolean().meta({ description: "False when it was there before." }) })
  .meta({ id: "ImportedSubnet" });
export type ImportedSubnetView = z.infer<typeof importedSubnetSchema>;

export const importedMachineSchema = z
  .object({
    machineId: z.string(),
    nics: z.array(z.string()),
    address: z.string(),
    name: z.string(),
    subnet: z.string(),
    created: z.boolean().meta({ description: "False when the machine had this address before." }),
  })
  .meta({ id: "ImportedMachine" });
export type ImportedMachine = z.infer<typeof importedMachineSchema>;

export const importedViewSchema = z
  .object({
    subnets: z.array(importedSubnetSchema).meta({ description: "In the order of the request." }),
    machines: z.array(importedMachineSchema).meta({ description: "In the order of the request." }),
    created: z.int(),
    unchanged: z.int(),
    dryRun: z.boolean().meta({ description: "True when nothing was changed; ids and chosen addresses are then examples." }),
  })
  .meta({ id: "Imported" });
export type ImportedView = z.infer<typeof importedViewSchema>;
