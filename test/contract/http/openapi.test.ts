import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFixture, type ApiFixture } from "./api-fixture.js";

interface Described {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, { responses: Record<string, { content?: Record<string, unknown> }> }>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}

let fixture: ApiFixture;
let described: Described;
beforeAll(async () => {
  fixture = await createFixture();
  const response = await fixture.api.inject({ url: "/api/v1/openapi.json" });
  expect(response.statusCode).toBe(200);
  described = response.json<Described>();
});
afterAll(() => fixture.close());

describe("the description of the API", () => {
  it("is OpenAPI 3.1 and names every route", () => {
    expect(described.openapi).toBe("3.1.0");
    const routes = Object.entries(described.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(routes.filter((route) => route.includes("/api/v1/")).sort()).toEqual([
      "delete /api/v1/allocations/{ref}",
      "delete /api/v1/api-tokens/{ref}",
      "delete /api/v1/names/{ref}",
      "delete /api/v1/racks/{ref}",
      "delete /api/v1/reservations/{ref}",
      "delete /api/v1/subnets/{ref}",
      "delete /api/v1/vips/{ref}/owners/{machine}",
      "get /api/v1/allocations",
      "get /api/v1/allocations/{ref}",
      "get /api/v1/api-tokens",
      "get /api/v1/audit",
      "get /api/v1/events",
      "get /api/v1/healthz",
      "get /api/v1/leases",
      "get /api/v1/machines",
      "get /api/v1/machines/{ref}",
      "get /api/v1/names",
      "get /api/v1/networks",
      "get /api/v1/problems",
      "get /api/v1/racks",
      "get /api/v1/racks/{ref}",
      "get /api/v1/readyz",
      "get /api/v1/reservations",
      "get /api/v1/status",
      "get /api/v1/subnets",
      "get /api/v1/subnets/{ref}",
      "get /api/v1/subnets/{ref}/servers",
      "get /api/v1/version",
      "get /api/v1/vip-moves",
      "get /api/v1/vips",
      "patch /api/v1/machines/{ref}",
      "patch /api/v1/subnets/{ref}",
      "post /api/v1/allocations",
      "post /api/v1/allocations/bulk",
      "post /api/v1/api-tokens",
      "post /api/v1/machines/enlist",
      "post /api/v1/machines/enroll",
      "post /api/v1/machines/import",
      "post /api/v1/machines/{ref}/release",
      "post /api/v1/names",
      "post /api/v1/reservations",
      "post /api/v1/subnets",
      "post /api/v1/tokens",
      "post /api/v1/vips",
      "post /api/v1/vips/{ref}/owners",
    ]);
  });

  it("refers only to schemas it has, and has none that nothing refers to", () => {
    const text = JSON.stringify(described);
    const referred = [...text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
    expect(new Set(referred)).toEqual(new Set(Object.keys(described.components.schemas)));
    expect(referred).toContain("Subnet");
    for (const schema of Object.values(described.components.schemas)) expect(schema).not.toEqual({});
  });

  it("says how each route refuses", () => {
    for (const [path, methods] of Object.entries(described.paths)) {
      if (/\/(healthz|readyz)$/.test(path)) continue;
      for (const { responses } of Object.values(methods))
        expect(Object.keys(responses["4XX"]?.content ?? {})).toEqual(["application/problem+json"]);
    }
  });
});
