import { ipAddressSchema, type Problem, type Result } from "@berth/core";
import { EnvironmentError, type Files } from "@berth/host";
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";

/**
 * The agent's configuration file, YAML or JSON. Every key has a default but those of the identity, which `berth-agent join` writes to the
 * state folder. `packages/agent/agent.reference.yaml` documents each key; a test holds it against these defaults.
 */
export const agentConfigSchema = z.strictObject({
  /** Folder of everything the agent keeps: identity, desired state, rendered files, leases. */
  state: z.string().min(1).default("/var/lib/berth-agent"),
  /** More regions to dial, `HOST:PORT`, beside the one that was joined. */
  regions: z.array(z.string().regex(/^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$/, "write HOST:PORT")).default([]),
  /** Verdicts that an operator knows better than the agent; first match wins over everything observed. */
  addresses: z
    .strictObject({ real: z.array(ipAddressSchema).default([]), vips: z.array(ipAddressSchema).default([]) })
    .prefault({}),
  dhcpd: z
    .strictObject({
      program: z.string().min(1).default("dhcpd"),
      /** The leases file; null is `dhcpd/dhcpd.leases` in the state folder. */
      leases: z.string().min(1).nullable().default(null),
    })
    .prefault({}),
  named: z
    .strictObject({
      program: z.string().min(1).default("named"),
      port: z.int().min(1).max(65535).default(53),
      /** rndc's port on 127.0.0.1. */
      control_port: z.int().min(1).max(65535).default(953),
    })
    .prefault({}),
  log: z.strictObject({ level: z.enum(["debug", "info", "warn", "error"]).default("info") }).prefault({}),
});
export type AgentConfig = z.infer<typeof agentConfigSchema>;

const CONFIG_MAX = 1024 * 1024;

/** Reads and checks the file: all problems at once, each with its path and line. Throws when it cannot be read at all. */
export async function readAgentConfig(files: Files, path: string): Promise<Result<AgentConfig>> {
  const content = await files.read(path, CONFIG_MAX);
  if (content === null)
    throw new EnvironmentError("config-missing", path, `there is no ${path}`, {
      remedy: "write one; agent.reference.yaml documents every key",
    });
  return parseAgentConfig(Buffer.from(content).toString("utf8"), path);
}

export function parseAgentConfig(text: string, path: string): Result<AgentConfig> {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  if (document.errors.length > 0) {
    return {
      ok: false,
      problems: document.errors.map((error) => ({
        code: "config-syntax",
        at: `${path}:${error.linePos?.[0].line ?? 1}`,
        message: error.message.split("\n")[0] ?? "not YAML",
      })),
    };
  }
  const parsed = agentConfigSchema.safeParse(document.toJS({ maxAliasCount: 16 }) ?? {});
  if (parsed.success) return { ok: true, value: parsed.data };
  const lineOf = (keys: readonly PropertyKey[]): number => {
    for (let depth = keys.length; depth > 0; depth--) {
      const node: unknown = document.getIn(keys.slice(0, depth), true);
      if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range))
        return lineCounter.linePos(Number(node.range[0])).line;
    }
    return 1;
  };
  return { ok: false, problems: parsed.error.issues.flatMap((issue) => configProblems(path, issue, lineOf)) };
}

function configProblems(path: string, issue: z.core.$ZodIssue, lineOf: (keys: readonly PropertyKey[]) => number): Problem[] {
  const place = (keys: readonly PropertyKey[]): string => `${path}:${lineOf(keys)}: ${keys.map(String).join(".") || "(top)"}`;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      code: "config-unknown-key",
      at: place([...issue.path, key]),
      message: "no such key",
      remedy: "agent.reference.yaml lists every key",
    }));
  }
  return [{ code: "config-invalid", at: place(issue.path), message: issue.message }];
}
