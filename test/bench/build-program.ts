import { createRequire } from "node:module";

interface Builder {
  readonly build: (options: Record<string, unknown>) => Promise<unknown>;
}

/** Builds a program of this folder to one file, as the agent is shipped: no loader stands between it and what is measured. */
export async function buildProgram(entry: string, outfile: string): Promise<void> {
  const { build } = (await import(createRequire(import.meta.url).resolve("esbuild"))) as Builder;
  await build({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    minifySyntax: true,
    outfile,
    logLevel: "error",
    // Bundled CommonJS packages ask for Node's own modules.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
}
