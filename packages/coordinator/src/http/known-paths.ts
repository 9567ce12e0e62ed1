import type { FastifyInstance } from "fastify";

interface KnownPath {
  readonly segments: readonly string[];
  readonly methods: Set<string>;
}

/** The paths that routes have, with the methods each takes: to tell a wrong method from a wrong path. Routes count that are added after it was made. */
export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>();

  constructor(api: FastifyInstance) {
    api.addHook("onRoute", ({ url, method }) => {
      const path = this.#paths.get(url) ?? { segments: url.split("/"), methods: new Set() };
      this.#paths.set(url, path);
      for (const name of [method].flat()) path.methods.add(name);
    });
  }

  /** Methods that the path takes, sorted; empty where there is no such path. */
  methodsOf(url: string): readonly string[] {
    const segments = (url.split(/[?#]/, 1)[0] ?? "").split("/");
    const methods = new Set<string>();
    for (const path of this.#paths.values())
      if (matches(path.segments, segments)) path.methods.forEach((name) => methods.add(name));
    return [...methods].sort();
  }
}

function matches(pattern: readonly string[], segments: readonly string[]): boolean {
  if (pattern.length !== segments.length) return false;
  return pattern.every((part, place) => (part.startsWith(":") ? segments[place] !== "" : part === segments[place]));
}
