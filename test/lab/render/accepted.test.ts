import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileZones, renderRndcKey } from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { goldenCases, renderedFiles, writeFiles, type GoldenCase } from "../../golden-cases.js";
import { createLab, type Lab } from "../lab.js";
import { requireTools } from "../require-tools.js";
import { runProgram } from "../run-program.js";

const RNDC_SECRET = Buffer.alloc(32, "golden files hold no real secret").toString("base64");

/** The daemons' own checkers take every golden file, without a word of warning. */
describe("golden files and the daemons' own checkers", () => {
  let lab: Lab;
  const folders: string[] = [];

  beforeAll(async () => {
    requireTools(["dhcpd", "named-checkconf", "named-checkzone"]);
    lab = await createLab({ name: "accepted.test" });
  });
  afterAll(async () => {
    await lab.close();
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  /** Rendered for a folder that is there, because named-checkconf opens what named.conf names. */
  function rendered(golden: GoldenCase): { readonly folder: string; readonly files: ReadonlyMap<string, string> } {
    const folder = mkdtempSync(join(tmpdir(), "berth-golden-"));
    folders.push(folder);
    const paths = { directory: folder, zones: join(folder, "zones"), key: join(folder, "rndc.key") };
    const files = renderedFiles(golden, { paths, port: 53, controlPort: 953 });
    writeFiles(folder, files);
    writeFileSync(paths.key, renderRndcKey(RNDC_SECRET));
    return { folder, files };
  }

  it.each(goldenCases().filter(({ name }) => !name.endsWith("refused")))("$name", async (golden) => {
    const { folder, files } = rendered(golden);
    expect(files.has("dhcpd.conf") && files.has("named.conf")).toBe(true);
    const dhcpd = await runProgram([lab.programs.unconfined("dhcpd"), "-t", "-q", "-cf", join(folder, "dhcpd.conf")]);
    expect(dhcpd).toMatchObject({ status: 0, stdout: "", stderr: "" });
    if (files.has("dhcpd6.conf")) {
      const argv = ["-6", "-t", "-q", "-cf", join(folder, "dhcpd6.conf")] as const;
      expect(await runProgram([lab.programs.unconfined("dhcpd"), ...argv])).toMatchObject({ status: 0, stdout: "", stderr: "" });
    }
    const conf = await runProgram(["named-checkconf", "-z", join(folder, "named.conf")]);
    expect([conf.status, conf.stderr, conf.stdout.replace(/^zone \S+: loaded serial 1$\n?/gm, "")]).toEqual([0, "", ""]);
    const zones = compileZones(golden.desired);
    for (const { zone, fileName } of zones.ok ? zones.value.files : []) {
      const strict = [
        "-i",
        "local",
        "-k",
        "fail",
        "-m",
        "fail",
        "-M",
        "fail",
        "-n",
        "fail",
        "-r",
        "fail",
        "-S",
        "fail",
        "-T",
        "warn",
      ];
      const result = await runProgram(["named-checkzone", ...strict, zone.origin, join(folder, "zones", fileName)]);
      expect([zone.origin, result.status, result.stdout]).toEqual([
        zone.origin,
        0,
        "zone " + `${zone.origin}/IN: loaded serial 1\nOK\n`,
      ]);
    }
  });

  it.each(goldenCases().filter(({ name }) => name.endsWith("refused")))("$name: there is no file of dhcpd's", (golden) => {
    expect([...rendered(golden).files.keys()]).toEqual(["named.conf", "findings.txt"]);
  });
});
