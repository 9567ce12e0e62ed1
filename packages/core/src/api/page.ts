import { z } from "zod";

/** Every path of the coordinator's HTTP API begins with it. */
export const API_ROOT = "/api/v1";

/** Where the coordinator's HTTP API listens on loopback unless configured. */
export const API_PORT = 7480;

export const PAGE_ITEMS_DEFAULT = 500;
export const PAGE_ITEMS_MAX = 2000;

/** What every list takes: `after` is the `next` of the page before. */
export const pageQuerySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(PAGE_ITEMS_MAX).default(PAGE_ITEMS_DEFAULT),
  after: z.string().max(512).exactOptional(),
});

/** What a list takes whose entries have numbers and come newest first. */
export const numberedPageQuerySchema = pageQuerySchema.extend({
  after: z
    .string()
    .regex(/^\d{1,15}$/, "not the `next` of a page of this list")
    .exactOptional(),
});
export type PageQuery = z.infer<typeof pageQuerySchema>;

/** One page of a list in a stable order; `next` is null on the last page. */
export interface Page<T> {
  readonly items: T[];
  readonly next: string | null;
}

export function pageSchema<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), next: z.string().nullable() });
}

/**
 * Cuts one page out of all items. Keys are compared as plain text, each belongs to one item, and an item that comes or goes between two
 * pages neither repeats nor hides another one. Sorts no more than what may still be of the page.
 */
export function pageOf<T>(items: readonly T[], keyOf: (item: T) => string, query: PageQuery): Page<T> {
  const { after, limit } = query;
  let nearest: Keyed<T>[] = [];
  let last: string | null = null;
  for (const item of items) {
    const key = keyOf(item);
    if ((after !== undefined && key <= after) || (last !== null && key > last)) continue;
    nearest.push([key, item]);
    if (nearest.length < 2 * (limit + 1)) continue;
    nearest = nearest.sort(byKey).slice(0, limit + 1);
    last = nearest[limit]?.[0] ?? null;
  }
  const page = nearest.sort(byKey).slice(0, limit);
  return { items: page.map(([, item]) => item), next: nearest.length > limit ? (page.at(-1)?.[0] ?? null) : null };
}

type Keyed<T> = readonly [key: string, item: T];

function byKey([a]: Keyed<unknown>, [b]: Keyed<unknown>): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
