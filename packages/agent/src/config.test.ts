import { readFileSync } from "node:fs";
import { join } from "node:path";
import { issueText } from "@berth/core";
import { parseConfig } from "@berth/host";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { agentConfigSchema } from "./config.js";

const source = { path: "agent.yaml", reference: "agent.reference.yaml", issueText };

describe("agent configuration", () => {
  it("is documented: the reference file names every key with its default", () => {
    const text = readFileSync(join(import.meta.dirname, "../agent.reference.yaml"), "utf8");
    expect(parseConfig(text, source, agentConfigSchema)).toEqual({ ok: true, value: agentConfigSchema.parse({}) });
    expect(parse(text)).toEqual(agentConfigSchema.parse({}));
  });

  it("has a default for everything", () => {
    expect(parseConfig("", source, agentConfigSchema).ok).toBe(true);
  });

  it("names every wrong key at once, with its line", () => {
    const text =
      "state: 7\nregions: [nowhere]\nnamed:\n  port: 70000\n  prot: 53\ncolour: red\naddresses:\n  vips: [192.168.050.1]\n";
    const read = parseConfig(text, source, agentConfigSchema);
    expect(read.ok).toBe(false);
    if (read.ok) return;
    expect(read.problems.map(({ code, at }) => `${code} ${at}`)).toEqual([
      "config-invalid agent.yaml:1: state",
      "config-invalid agent.yaml:2: regions.0",
      "config-invalid agent.yaml:4: named.port",
      "config-unknown-key agent.yaml:5: named.prot",
      "config-unknown-key agent.yaml:6: colour",
      "config-invalid agent.yaml:8: addresses.vips.0",
    ]);
    expect(read.problems.filter((_, index) => index !== 1 && index !== 5).map(({ message }) => message)).toEqual([
      "must be a text, and is a number",
      "must be at most 65535",
      "no such key",
      "no such key",
    ]);
  });

  it("names the line of a syntax error and of a key given twice", () => {
    for (const [text, line] of [
      ["state: [", 1],
      ["state: a\nlog:\n  level: info\nstate: b\n", 4],
    ] as const) {
      const read = parseConfig(text, source, agentConfigSchema);
      expect(read.ok ? null : read.problems[0]).toMatchObject({ code: "config-syntax", at: `agent.yaml:${line}` });
    }
  });
});
