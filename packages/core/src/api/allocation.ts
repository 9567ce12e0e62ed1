import { z } from "zod";
import { pageQuerySchema } from "./page.js";

export const allocationViewSchema = z
  .object({
    id: z.string(),
    kind: z.enum(["machine", "additional", "vip"]),
    address: z.string(),
    name: z.string(),
    subnet: z.string(),
    subnetId: z.int(),
    machineId: z.string().nullable(),
    nics: z.array(z.string()),
    owners: z.array(z.string()),
    delivery: z.enum(["dhcp", "config", "both"]),
    createdAt: z.string(),
  })
  .meta({ id: "Allocation" });
export type AllocationView = z.infer<typeof allocationViewSchema>;

export const allocationQuerySchema = pageQuerySchema.extend({
  subnet: z.string().min(1).max(64).exactOptional(),
  machine: z.string().min(1).max(64).exactOptional(),
});
