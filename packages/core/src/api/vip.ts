import { z } from "zod";
import { ipAddressSchema } from "../desired/schema.js";
import { numberedPageQuerySchema } from "./page.js";

/** One move of a virtual address between two racks, with their names as they were then. */
export const vipMoveViewSchema = z
  .object({
    site: z.string(),
    address: z.string(),
    from: z.string(),
    to: z.string(),
    at: z.string().meta({ description: "When the region knew that the new rack had it and the old one had not." }),
  })
  .meta({ id: "VipMove" });
export type VipMoveView = z.infer<typeof vipMoveViewSchema>;

export const vipMoveQuerySchema = numberedPageQuerySchema.extend({ address: ipAddressSchema.exactOptional() });

/** A virtual address: who holds it is what racks see, and changes by itself; who owns it is what the ledger says. */
export const vipViewSchema = z
  .object({
    site: z.string(),
    address: z.string(),
    subnet: z.string().nullable().meta({ description: "The declared subnet around it." }),
    owner: z.string().nullable().meta({ description: "Name of its allocation in the ledger." }),
    allocation: z.string().nullable().meta({ description: "Id of its allocation in the ledger." }),
    owners: z.array(z.string()).meta({ description: "Machines that own it in the ledger, by id." }),
    holders: z
      .array(
        z.object({
          rack: z.string(),
          interface: z.string(),
          since: z.string(),
          silent: z.boolean().meta({ description: "The rack's connection is lost: nobody vouches for it now." }),
          anycast: z.boolean().meta({ description: "On lo or a dummy, where many racks may have it at once." }),
        }),
      )
      .meta({ description: "Racks that have it now: none while it is down, one, or more when they disagree." }),
    reasons: z.array(z.string()).meta({ description: "Why it counts as virtual, in words." }),
    moves: z.int().meta({ description: "Moves seen, of which the last follows." }),
    lastMove: vipMoveViewSchema.nullable(),
  })
  .meta({ id: "Vip" });
export type VipView = z.infer<typeof vipViewSchema>;

export const vipOwnerSchema = z.strictObject({ machine: z.string().min(1).max(253) });
