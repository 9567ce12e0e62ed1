import { describe, expect, it } from "vitest";
import { addressSortKey } from "./sort-key.js";
import { numberedPageQuerySchema, pageOf, pageQuerySchema } from "./page.js";
import { ipAddress } from "../address/ip.js";

const key = (text: string): string => text;

describe("pageOf", () => {
  it("joins to the sorted whole at any page size", () => {
    const items = ["d", "a", "c", "e", "b"];
    for (let limit = 1; limit <= 6; limit++) {
      const seen: string[] = [];
      for (let after: string | null = null; ; ) {
        const page: { items: string[]; next: string | null } = pageOf(items, key, {
          limit,
          ...(after === null ? {} : { after }),
        });
        seen.push(...page.items);
        if (page.next === null) break;
        after = page.next;
      }
      expect(seen).toEqual(["a", "b", "c", "d", "e"]);
    }
  });

  it("goes on behind an item that has gone, and ends without an empty page", () => {
    expect(pageOf(["a", "c"], key, { limit: 1, after: "b" })).toEqual({ items: ["c"], next: null });
    expect(pageOf(["a", "b"], key, { limit: 2 })).toEqual({ items: ["a", "b"], next: null });
    expect(pageOf([], key, { limit: 2 })).toEqual({ items: [], next: null });
  });

  it("finds the page anywhere among many items in whatever order", () => {
    const sorted = Array.from({ length: 1000 }, (_, number) => String(number).padStart(4, "0"));
    const orders = [sorted, sorted.toReversed(), sorted.map((_, number) => sorted[(number * 377) % 1000] ?? "")];
    for (const order of orders)
      for (const [after, from] of [
        [undefined, 0],
        ["0499", 500],
        ["0995", 996],
      ] as const) {
        const query = { limit: 7, ...(after === undefined ? {} : { after }) };
        const items = sorted.slice(from, from + 7);
        expect(pageOf(order, key, query)).toEqual({ items, next: from + 7 < 1000 ? items.at(-1) : null });
      }
  });

  it("refuses a place in a numbered list that is no number", () => {
    expect(numberedPageQuerySchema.parse({ after: "12" })).toEqual({ limit: 500, after: "12" });
    for (const after of ["zzz", "-1", "1e3", "", "1.5"]) expect(numberedPageQuerySchema.safeParse({ after }).success).toBe(false);
  });

  it("takes only sensible limits", () => {
    expect(pageQuerySchema.parse({})).toEqual({ limit: 500 });
    for (const limit of ["0", "-1", "2001", "x", "1.5"]) expect(pageQuerySchema.safeParse({ limit }).success).toBe(false);
  });
});

describe("addressSortKey", () => {
  it("sorts as the addresses do", () => {
    const ordered = [
      "0.0.0.0",
      "9.255.255.255",
      "10.0.0.2",
      "10.0.0.10",
      "255.255.255.255",
      "::",
      "::ffff:0:1",
      "2001:db8::9",
      "ffff::",
    ];
    const keys = ordered.map((text) => addressSortKey(ipAddress(text)));
    expect([...keys].reverse().sort()).toEqual(keys);
    expect(new Set(keys).size).toBe(ordered.length);
  });
});
