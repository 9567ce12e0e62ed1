import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "..");
const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 60;

interface Source {
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

/** Every rule says why it is there: whoever breaks it reads the reason, not only the verdict. */
interface Rule {
  readonly name: string;
  readonly reason: string;
  readonly check: (source: Source) => readonly string[];
}

const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  core: ["ipaddr.js", "zod"],
  host: ["pino", "yaml", "zod"],
  agent: [
    "@berth/core",
    "@berth/host",
    "@msgpack/msgpack",
    "@peculiar/x509",
    "reflect-metadata",
    "commander",
    "dns-packet",
    "ws",
    "yaml",
    "zod",
  ],
  coordinator: [
    "@berth/core",
    "@berth/host",
    "@fastify/swagger",
    "@msgpack/msgpack",
    "@peculiar/x509",
    "better-sqlite3",
    "commander",
    "fastify",
    "fastify-type-provider-zod",
    "kysely",
    "kysely-postgres-js",
    "postgres",
    "reflect-metadata",
    "ws",
    "yaml",
    "zod",
  ],
  cli: ["@berth/core", "commander", "yaml", "zod"],
};

const RULES: readonly Rule[] = [
  {
    name: "imports follow the architecture",
    reason:
      "core decides and knows no host; host touches the machine and knows no domain; agent, coordinator and cli meet only on the wire. npm hoists workspaces, so an undeclared import compiles: only this test stops it",
    check: ({ path, tree }) => {
      const owner = packageOf(path);
      if (owner === null || path.includes(".test.")) return [];
      return importsOf(tree).flatMap(({ specifier, line }) =>
        mayImport(owner, path, specifier) ? [] : [`${path}:${line} ${owner} may not import '${specifier}'`],
      );
    },
  },
  {
    name: "core has no clock and no randomness",
    reason:
      "deciding is deterministic: `now` and random numbers come in as arguments, so that every decision can be tested and replayed",
    check: ({ path, tree }) => {
      if (packageOf(path) !== "core" || path.includes(".test.")) return [];
      return nodesOf(tree, (node) => CLOCK_OR_CHANCE.some((banned) => banned(node))).map(
        (node) => `${path}:${lineOf(tree, node)} ${node.getText(tree).slice(0, 60)}`,
      );
    },
  },
  {
    name: "process is touched in main.ts only",
    reason:
      "arguments, environment and exit enter and leave a program in one place; everything else is handed what it needs and can be tested",
    check: ({ path, tree }) => {
      if (packageOf(path) === null || path.endsWith("/main.ts") || path.includes(".test.")) return [];
      return nodesOf(
        tree,
        (node) => ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === "process",
      ).map((node) => `${path}:${lineOf(tree, node)} ${node.getText(tree)}`);
    },
  },
  {
    name: `a file has at most ${FILE_LINES_MAX} lines`,
    reason: "a file is one idea; one that outgrew this holds several, and a new reader cannot guess where a thing lives",
    check: ({ path, text }) => {
      const lines = text.split("\n").length - 1;
      return lines > FILE_LINES_MAX ? [`${path} has ${lines} lines`] : [];
    },
  },
  {
    name: `a function has at most ${FUNCTION_LINES_MAX} lines`,
    reason: "a function that does not fit one screen hides its steps; give each step a name",
    check: ({ path, tree }) => {
      if (!path.startsWith("packages/") || path.includes(".test.")) return [];
      return nodesOf(tree, (node) => ts.isFunctionLike(node) && "body" in node && node.body !== undefined).flatMap((node) => {
        const lines = tree.getLineAndCharacterOfPosition(node.end).line - lineOf(tree, node) + 2;
        return lines > FUNCTION_LINES_MAX ? [`${path}:${lineOf(tree, node)} ${functionName(node)} has ${lines} lines`] : [];
      });
    },
  },
  {
    name: "tests are neither skipped nor focused",
    reason:
      "a skipped test is a missing one, and a focused one hides all others; a test that cannot run must fail and say what is missing",
    check: ({ path, tree }) => {
      if (!path.includes(".test.")) return [];
      return nodesOf(
        tree,
        (node) =>
          ts.isPropertyAccessExpression(node) &&
          /^(it|test|describe)$/.test(node.expression.getText(tree)) &&
          /^(skip|only|todo|skipIf|runIf)$/.test(node.name.text),
      ).map((node) => `${path}:${lineOf(tree, node)} ${node.getText(tree)}`);
    },
  },
  {
    name: "no default exports, one barrel a package",
    reason: "a name that is searched for must be found, and an import must say which file a thing lives in",
    check: ({ path, tree }) => {
      if (packageOf(path) === null) return [];
      const barrels = ["src/index.ts", "src/fakes/index.ts"];
      const starred = nodesOf(tree, (node) => ts.isExportDeclaration(node) && node.exportClause === undefined);
      return barrels.some((barrel) => path.endsWith(barrel))
        ? []
        : starred.map((node) => `${path}:${lineOf(tree, node)} ${node.getText(tree)}`);
    },
  },
];

const CLOCK_OR_CHANCE: readonly ((node: ts.Node) => boolean)[] = [
  (node) => ts.isPropertyAccessExpression(node) && /^(Date\.now|Math\.random|performance\.now)$/.test(node.getText()),
  (node) => ts.isNewExpression(node) && node.expression.getText() === "Date" && (node.arguments?.length ?? 0) === 0,
  (node) => ts.isCallExpression(node) && /^(setTimeout|setInterval|setImmediate|queueMicrotask)$/.test(node.expression.getText()),
  (node) => ts.isPropertyAccessExpression(node) && node.expression.getText() === "crypto",
];

function packageOf(path: string): string | null {
  return /^packages\/([a-z]+)\/src\//.exec(path)?.[1] ?? null;
}

function mayImport(owner: string, path: string, specifier: string): boolean {
  if (specifier.startsWith("."))
    return relative(join("packages", owner, "src"), join(dirname(path), specifier)).startsWith("..") === false;
  if (specifier.startsWith("node:")) return owner !== "core";
  const name = specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : (specifier.split("/")[0] ?? "");
  return PACKAGES[owner]?.includes(name) ?? false;
}

function importsOf(tree: ts.SourceFile): { specifier: string; line: number }[] {
  return nodesOf(
    tree,
    (node) => (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined,
  )
    .concat(nodesOf(tree, (node) => ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword))
    .map((node) => {
      const literal = ts.isCallExpression(node) ? node.arguments[0] : (node as ts.ImportDeclaration).moduleSpecifier;
      return {
        specifier: literal !== undefined && ts.isStringLiteral(literal) ? literal.text : "(computed)",
        line: lineOf(tree, node),
      };
    });
}

function nodesOf(tree: ts.SourceFile, wanted: (node: ts.Node) => boolean): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (wanted(node)) found.push(node);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

function functionName(node: ts.Node): string {
  return ("name" in node && node.name !== undefined ? (node.name as ts.Node).getText() : "(anonymous)").slice(0, 40);
}

function sources(): Source[] {
  const files = ["packages", "test", "scripts"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .map((path) => join(folder, path))
      .filter(
        (path) => path.endsWith(".ts") && !path.endsWith(".d.ts") && !/(^|\/)(node_modules|dist|fixtures|golden)\//.test(path),
      ),
  );
  return files.sort().map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true) };
  });
}

describe("tidy", () => {
  const all = sources();

  it("reads the tree it is about", () => {
    expect(all.length).toBeGreaterThan(30);
  });

  for (const rule of RULES) {
    it(rule.name, () => {
      const broken = all.flatMap((source) => rule.check(source));
      expect(broken, `${rule.reason}.\n${broken.join("\n")}`).toEqual([]);
    });
  }

  it("core compiles without Node's types", () => {
    const config = JSON.parse(readFileSync(join(ROOT, "packages/core/tsconfig.json"), "utf8")) as {
      compilerOptions: { types: string[] };
    };
    expect(config.compilerOptions.types, "core runs anywhere: a Node type in it would be a host in disguise").toEqual([]);
  });

  it("each rule can fail", () => {
    const bad = (path: string, text: string): Source => ({
      path,
      text,
      tree: ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true),
    });
    const long = "  void 0;\n".repeat(FILE_LINES_MAX + 1);
    const samples: readonly Source[] = [
      bad("packages/core/src/a/b.ts", 'import "node:fs";'),
      bad("packages/core/src/a/b.ts", "export const t = Date.now();"),
      bad("packages/agent/src/a.ts", "export const e = process.env;"),
      bad("packages/agent/src/a.ts", long),
      bad("packages/agent/src/a.ts", `export function f(): void {\n${long}}`),
      bad("packages/agent/src/a.test.ts", "it.skip('x', () => undefined);"),
      bad("packages/agent/src/a.ts", 'export * from "./b.js";'),
    ];
    expect(RULES.map((rule, i) => samples.slice(i, i + 1).some((sample) => rule.check(sample).length > 0))).toEqual(
      RULES.map(() => true),
    );
  });
});
