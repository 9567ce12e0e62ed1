import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  compileDhcpd,
  compileZones,
  ipAddress,
  ipPrefix,
  renderDhcpd,
  renderRndcKey,
  type DesiredSubnet,
  type IpRange,
} from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linkAt, subnetOf } from "../../fixtures/dhcpd/subnet.js";
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

  it("no pool without a range, and no partner that no pool uses (case 201)", async () => {
    const bank = JSON.parse(
      readFileSync(new URL("../../fixtures/dhcpd/201-pool-needs-both-racks-no-range.json", import.meta.url), "utf8"),
    ) as {
      readonly given: { readonly subnet: string; readonly dynamic: readonly IpRange[]; readonly failover: boolean };
      readonly expect: { readonly must_not_contain: readonly string[]; readonly dhcpd_t: "ok" };
    };
    expect(bank.given).toMatchObject({ dynamic: [], failover: true });
    const failover = {
      role: "primary",
      address: ipAddress("192.0.2.1"),
      partner: ipAddress("192.0.2.2"),
      port: 647,
      mclt: 60,
      split: 128,
    } as const;
    const subnet = subnetOf({ prefix: ipPrefix(bank.given.subnet), gateway: null, dns: [], failover });
    const window = { first: ipAddress("192.0.2.10"), last: ipAddress("192.0.2.12") };
    const used: DesiredSubnet = { ...subnet, mode: "window", window, excludedRanges: [window] };
    for (const without of [{ ...subnet, mode: "static" as const }, used]) {
      const config = compileDhcpd({ subnets: [without] }, { links: [linkAt("eth0", 1, "192.0.2.1")] });
      const text = config.ok ? renderDhcpd(config.value) : "";
      expect(text).toContain("subnet 192.0.2.0");
      for (const word of [...bank.expect.must_not_contain, "failover peer"]) expect(text).not.toContain(word);
      const file = join(mkdtempSync(join(tmpdir(), "berth-golden-")), "dhcpd.conf");
      folders.push(join(file, ".."));
      writeFileSync(file, text);
      const checked = await runProgram([lab.programs.unconfined("dhcpd"), "-t", "-q", "-cf", file]);
      expect(checked).toMatchObject({ status: 0, stdout: "", stderr: "" });
    }
  });
});
