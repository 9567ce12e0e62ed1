import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Tests run against the sources, so no build step stands between an edit and its test. */
const alias = {
  "@berth/host/fakes": source("packages/host/src/fakes/index.ts"),
  "@berth/core": source("packages/core/src/index.ts"),
  "@berth/host": source("packages/host/src/index.ts"),
};

export default defineConfig({
  resolve: { alias },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: ["packages/*/src/**/*.test.ts", "test/*.test.ts", "test/contract/**/*.test.ts"],
          testTimeout: 20_000,
          isolate: false,
        },
      },
      {
        // Real daemons in network namespaces: needs root and built packages, and shares two cores, so two files run at a time.
        extends: true,
        test: {
          name: "lab",
          include: ["test/{lab,scenario}/**/*.test.ts"],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          isolate: false,
        },
      },
    ],
  },
});
