import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DhcpdWriter, ipAddress, ipPrefix, parseHardwareAddress, type DesiredHost } from "@berth/core";
import { createMemoryFiles, createScriptedCommands } from "@berth/host/fakes";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linkAt, subnetOf } from "../../../../test/fixtures/dhcpd/subnet.js";
import { dhcpdGoal } from "../reconcile/dhcp-goal.js";
import { createDhcpdCheck } from "./dhcpd-check.js";

const CANDIDATE = "/dhcp/dhcpd.conf.candidate";
const host = (n: number): DesiredHost => {
  const hardwareAddress = parseHardwareAddress(`02:00:00:00:00:${10 + n}`);
  if (hardwareAddress === null) throw new Error("no hardware address");
  return { hardwareAddress, address: ipAddress(`192.168.50.${10 + n}`), name: `m${n}.example.test` };
};
const [one, two, three] = [host(1), host(2), host(3)] as const;

describe("what dhcpd -t looks at", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "berth-check-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A check by a program that refuses what `isBad` says; answers what each look was at. */
  function setUp(isBad: (text: string) => boolean = () => false) {
    const program = join(folder, "dhcpd");
    writeFileSync(program, "one version");
    chmodSync(program, 0o755);
    const [files, commands] = [createMemoryFiles(), createScriptedCommands()];
    files.put("/dhcp/.folder", "");
    const looks: { readonly path: string; readonly text: string }[] = [];
    commands.on([program], (argv) => {
      const path = argv.at(-1) ?? "";
      const text = files.text(path) ?? "";
      looks.push({ path, text });
      return isBad(text) ? { status: 1, stderr: `${path} line 3: semicolon expected.` } : {};
    });
    const paths = { program, config: "/dhcp/dhcpd.conf", leases: "/none", log: "/none" };
    const validate = createDhcpdCheck({ family: 4, paths, render: dhcpdGoal }, { files, commands });
    const writer = new DhcpdWriter();
    const check = async (hosts: readonly DesiredHost[], leaseTime = 600) => {
      looks.length = 0;
      const subnets = [subnetOf({ mode: "static", leaseTime, hosts: [...hosts] })];
      const local = { links: [linkAt("eth0", 1, "192.168.50.1")] };
      const desired = { format: 1, rack: "r", generation: 1, subnets, zones: [], queryFrom: [], forwarders: [] } as const;
      const goal = dhcpdGoal(
        { ...desired, zones: [], queryFrom: [ipPrefix("192.168.50.0/24")], forwarders: [] },
        { local, interfaces: [] },
        { writer },
      );
      const problem = await validate({ path: CANDIDATE, goal, written: files.write(CANDIDATE, goal.text ?? "") });
      return { problem, looks: looks.map(({ path, text }) => [path, (text.match(/^host s/gm) ?? []).length]) };
    };
    return { check, files, program };
  }

  const whole = (count: number) => [[CANDIDATE, count]];
  const part = (count: number) => [[`${CANDIDATE}.changed`, count]];

  it("is the whole file at first, then only what changes of the last one that was taken", async () => {
    const { check, files } = setUp();
    expect(await check([one, two])).toEqual({ problem: null, looks: whole(2) });
    expect(await check([one, two, three])).toEqual({ problem: null, looks: part(1) });
    expect(await check([three])).toEqual({ problem: null, looks: part(0) });
    expect(await check([one, three])).toEqual({ problem: null, looks: part(1) });
    expect(files.paths).toEqual(["/dhcp/.folder", CANDIDATE]);
  });

  it("is the whole file again when anything but hosts differs, or dhcpd is another", async () => {
    const { check, program } = setUp();
    await check([one]);
    expect(await check([one, two], 700)).toEqual({ problem: null, looks: whole(2) });
    writeFileSync(program, "another version");
    expect(await check([one], 700)).toEqual({ problem: null, looks: whole(1) });
    rmSync(program);
    expect((await check([one, two], 700)).looks).toEqual(whole(2));
    expect((await check([one], 700)).looks).toEqual(whole(1));
  });

  it("is the whole file where the part is refused, whose words count, and nothing of it is taken for checked", async () => {
    const { check } = setUp((text) => text.includes("m2"));
    await check([one]);
    const refused = { code: "dhcpd-check-failed", at: "/dhcp/dhcpd.conf:3" };
    expect(await check([one, two])).toMatchObject({ problem: refused, looks: [...part(1), ...whole(2)] });
    expect(await check([one, two, three])).toMatchObject({ problem: refused, looks: [...part(2), ...whole(3)] });
    expect(await check([one, three])).toEqual({ problem: null, looks: part(1) });
  });
});
