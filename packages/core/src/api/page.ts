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
 * pages neither repeats nor hides another one.
 */
export function pageOf<T>(items: readonly T[], keyOf: (item: T) => string, query: PageQuery): Page<T> {
  const { after, limit } = query;
  const keyed = items.map((item): readonly [string, T] => [keyOf(item), item]);
  const rest = (after === undefined ? keyed : keyed.filter(([key]) => key > after)).sort(([a], [b]) =>
    a < b ? -1 : a > b ? 1 : 0,
  );
  const page = rest.slice(0, limit);
  return { items: page.map(([, item]) => item), next: rest.length > limit ? (page.at(-1)?.[0] ?? null) : null };
}
