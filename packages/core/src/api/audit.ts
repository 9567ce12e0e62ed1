import { z } from "zod";
import { numberedPageQuerySchema } from "./page.js";

/** One line of the append-only audit log. */
export const auditViewSchema = z
  .object({
    number: z.int(),
    at: z.string(),
    actor: z.string(),
    action: z.string(),
    subject: z.string(),
    detail: z.unknown().meta({ description: "The records before and after, or whatever explains it." }),
  })
  .meta({ id: "AuditEntry" });
export type AuditView = z.infer<typeof auditViewSchema>;

export const auditQuerySchema = numberedPageQuerySchema.extend({
  actor: z.string().min(1).max(128).exactOptional(),
  action: z.string().min(1).max(64).exactOptional(),
});

/** Where a reader of events goes on: `audit.move`, the last numbers it has of both logs. */
const CURSOR = /^(\d{1,15})\.(\d{1,15})$/;

export interface EventCursor {
  /** The last entry of the audit log, and the last move of a virtual address, that the reader has. */
  readonly audit: number;
  readonly move: number;
}

/** Reads the id of an event; null for what is none. */
export function parseEventCursor(text: string): EventCursor | null {
  const match = CURSOR.exec(text);
  return match === null ? null : { audit: Number(match[1]), move: Number(match[2]) };
}

export function formatEventCursor({ audit, move }: EventCursor): string {
  return `${audit}.${move}`;
}

export const eventQuerySchema = z.strictObject({
  after: z.string().regex(CURSOR, "not the id of an event").exactOptional().meta({
    description: "The id of the last event that the reader has, as the header Last-Event-ID; without it, only new ones.",
  }),
});
