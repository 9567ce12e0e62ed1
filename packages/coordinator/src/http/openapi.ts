import swagger from "@fastify/swagger";
import type { FastifyInstance } from "fastify";
import { jsonSchemaTransform, jsonSchemaTransformObject } from "fastify-type-provider-zod";
import { API_ROOT } from "@berth/core";

/** Describes all routes that are registered after it; served at `/api/v1/openapi.json`. */
export async function describeRoutes(api: FastifyInstance, version: string): Promise<void> {
  await api.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Berth coordinator", version, description: "Fixed addresses and names for bare-metal racks." },
      servers: [],
      components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
      security: [{ token: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => withoutUnused(jsonSchemaTransformObject(document)),
  });
  api.get(`${API_ROOT}/openapi.json`, { config: { role: "none" }, schema: { hide: true } }, () => api.swagger());
}

type Document = ReturnType<typeof jsonSchemaTransformObject>;

/** The transform makes an input and an output form of every named schema; those that nothing refers to are noise. */
function withoutUnused(document: Document): Document {
  if (!("components" in document)) return document;
  const { schemas = {}, ...components } = document.components ?? {};
  const rest = JSON.stringify({ ...document, components });
  const used = new Map<string, unknown>();
  const follow = (text: string): void => {
    for (const [, name = ""] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name) || !(name in schemas)) continue;
      used.set(name, schemas[name]);
      follow(JSON.stringify(schemas[name]));
    }
  };
  follow(rest);
  return { ...document, components: { ...components, schemas: Object.fromEntries(used) } } as Document;
}
