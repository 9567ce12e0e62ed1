import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  changedPart,
  compileDhcpd,
  DhcpdWriter,
  ipAddress,
  type DesiredHost,
  type DhcpdConfig,
  type DhcpdFile,
  type HardwareAddress,
} from "@berth/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linkAt, subnetOf } from "../../fixtures/dhcpd/subnet.js";
import { createLab, type Lab } from "../lab.js";
import { requireTools } from "../require-tools.js";
import { runProgram } from "../run-program.js";

/** What dhcpd says of the changed part of a file it says of the whole. */
describe("dhcpd -t of what changes", () => {
  let lab: Lab;
  let folder: string;
  beforeAll(async () => {
    requireTools(["dhcpd"]);
    lab = await createLab({ name: "changed-part.test" });
    folder = mkdtempSync(join(tmpdir(), "berth-changed-"));
  });
  afterAll(async () => {
    await lab.close();
    rmSync(folder, { recursive: true });
  });

  const host = (n: number, wrong: Partial<DesiredHost> = {}): DesiredHost => ({
    hardwareAddress: `02:00:00:00:00:${(16 + n).toString(16)}` as HardwareAddress,
    address: ipAddress(`192.168.50.${10 + n}`),
    name: `m${n}.example.test`,
    ...wrong,
  });
  const [one, two, three] = [host(1), host(2), host(3)] as const;
  const infiniband = host(4, {
    hardwareAddress: `80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:00:01` as HardwareAddress,
  });
  const odd = host(5, { name: 'm"5\\;}.other.example' });
  /** Nothing that a review lets through: only here, to have something that dhcpd refuses. */
  const bad = host(6, { hardwareAddress: "02:00:00:00:00:zz" as HardwareAddress });

  /** What was reviewed, with these hosts instead. */
  function configOf(hosts: readonly DesiredHost[], snippet = ""): DhcpdConfig {
    const subnets = [subnetOf({ mode: "static", ...(snippet === "" ? {} : { dhcp: { snippet } }) })];
    const compiled = compileDhcpd({ subnets }, { links: [linkAt("eth0", 1, "192.168.50.1")] });
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
    return { ...compiled.value, hosts: [{ subnetId: 1, domain: "example.test", hosts: [...hosts] }] };
  }

  async function takes(content: Uint8Array): Promise<boolean> {
    const path = join(folder, "dhcpd.conf");
    writeFileSync(path, content);
    const { status } = await runProgram([lab.programs.unconfined("dhcpd"), "-4", "-t", "-cf", path]);
    return status === 0;
  }

  it("is that of the whole file", async () => {
    const writer = new DhcpdWriter();
    let taken: DhcpdFile = writer.write(configOf([one]));
    expect(await takes(taken.octets)).toBe(true);
    const verdicts: boolean[] = [];
    for (const hosts of [[one, two], [two, three], [two, three, infiniband], [odd], [odd, bad], [bad], [], [one, odd, two]]) {
      const next = writer.write(configOf(hosts));
      const part = changedPart(taken, next);
      const isTaken = await takes(next.octets);
      expect([hosts, await takes(part ?? new Uint8Array())]).toEqual([hosts, isTaken]);
      verdicts.push(isTaken);
      if (isTaken) taken = next;
    }
    expect(verdicts).toEqual([true, true, true, true, false, false, true, true]);
  });

  it("is no part of a file whose other statements changed", () => {
    const writer = new DhcpdWriter();
    const before = writer.write(configOf([one]));
    expect(changedPart(before, writer.write(configOf([one], 'option tftp-server-name "a";')))).toBeNull();
  });
});
