import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderDhcpd, reviewDhcpd } from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badConfigs, goodConfig } from "../../fixtures/dhcpd/bad-configs.js";
import { createLab, type Lab } from "../lab.js";
import { requireTools } from "../require-tools.js";
import { runProgram } from "../run-program.js";

describe("what dhcpd -t lets through", () => {
  let lab: Lab;
  beforeAll(async () => {
    requireTools(["dhcpd"]);
    lab = await createLab({ name: "dhcpd-t.test" });
  });
  afterAll(() => lab.close());

  it.each([["good", "", goodConfig] as const, ...badConfigs])(
    "%s: our review is the one that says %s",
    async (name, code, config) => {
      const conf = join(lab.directory, `${name}.conf`);
      writeFileSync(conf, renderDhcpd(config));
      const { status } = await runProgram([lab.programs.unconfined("dhcpd"), "-t", "-q", "-cf", conf]);
      expect(status).toBe(0);
      expect(reviewDhcpd(config).some((problem) => problem.code === code)).toBe(name !== "good");
    },
  );
});
