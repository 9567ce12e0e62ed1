import { z } from "zod";
import { IMPORT_ROWS_MAX } from "../import/import-row.js";
import { enrollSchema } from "./machine.js";

/** Enrolls many machines: all of them, or none when one is refused. Every refusal says which, as `machines[12]`. */
export const importSchema = z.strictObject({
  machines: z.array(enrollSchema).min(1).max(IMPORT_ROWS_MAX),
});

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
    machines: z.array(importedMachineSchema).meta({ description: "In the order of the request." }),
    created: z.int(),
    unchanged: z.int(),
    dryRun: z.boolean().meta({ description: "True when nothing was changed; ids and chosen addresses are then examples." }),
  })
  .meta({ id: "Imported" });
export type ImportedView = z.infer<typeof importedViewSchema>;
