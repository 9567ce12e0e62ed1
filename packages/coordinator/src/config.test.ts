import { readFileSync } from "node:fs";
import { join } from "node:path";
import { issueText } from "@berth/core";
import { parseConfig } from "@berth/host";
import { describe, expect, it } from "vitest";
import { coordinatorConfigSchema, isEndpoint, splitEndpoint } from "./config.js";

const source = { path: "coordinator.yaml", reference: "coordinator.reference.yaml", issueText };

describe("coordinator configuration", () => {
  it("is documented: the reference file names every key with its default", () => {
    const text = readFileSync(join(import.meta.dirname, "../coordinator.reference.yaml"), "utf8");
    expect(parseConfig(text, source, coordinatorConfigSchema)).toEqual({ ok: true, value: coordinatorConfigSchema.parse({}) });
    for (const key of ["data", "database", "api", "link", "dns", "addresses", "notices", "log"])
      expect(text).toMatch(new RegExp(`^${key}:`, "m"));
  });

  it("reads endpoints of both families", () => {
    expect(splitEndpoint("[2001:db8::1]:7481")).toEqual({ host: "2001:db8::1", port: 7481 });
    expect(splitEndpoint("10.0.0.1:1")).toEqual({ host: "10.0.0.1", port: 1 });
    expect(["10.0.0.1", "10.0.0.1:99999", "::1:7481", ""].map(isEndpoint)).toEqual([false, false, false, false]);
  });
});
