import { z } from "zod";
import { ipAddressSchema } from "../desired/schema.js";
import { pageQuerySchema } from "./page.js";

export const reservationKindSchema = z
  .enum(["reservation", "exclusion"])
  .meta({ description: "`reservation`: set aside with no holder yet. `exclusion`: never to be given." });

export const reservationViewSchema = z
  .object({
    id: z.string(),
    kind: reservationKindSchema,
    subnet: z.string(),
    subnetId: z.int(),
    first: z.string(),
    last: z.string(),
    note: z.string(),
    createdAt: z.string(),
  })
  .meta({ id: "Reservation" });
export type ReservationView = z.infer<typeof reservationViewSchema>;

export const reservationQuerySchema = pageQuerySchema.extend({ subnet: z.string().min(1).max(64).exactOptional() });

/** Keeps an address, or all from `first` to `last`, from being given. */
export const reservationCreateSchema = z.strictObject({
  kind: reservationKindSchema.default("reservation"),
  first: ipAddressSchema,
  last: ipAddressSchema.nullable().exactOptional(),
  subnet: z.string().min(1).max(64).nullable().exactOptional(),
  note: z.string().max(1024).nullable().exactOptional(),
});
export type ReservationCreate = z.input<typeof reservationCreateSchema>;
