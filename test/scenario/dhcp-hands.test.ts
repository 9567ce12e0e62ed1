import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { kill } from "node:process";
import { ipAddress } from "@berth/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { subnetOf } from "../fixtures/dhcpd/subnet.js";
import { DhcpRack, type Known } from "../lab/dhcp-rack.js";
import { createLab, type Lab } from "../lab/lab.js";
import { waitUntil } from "../lab/wait-until.js";

const A: Known = { mac: "02:00:5e:00:53:0a", address: "192.168.50.10" };
const B: Known = { mac: "02:00:5e:00:53:0b", address: "192.168.50.11" };

/** What others do to a dhcpd that Berth runs. */
describe("dhcpd in other hands", () => {
  let lab: Lab;
  let rack: DhcpRack;
  beforeEach(async () => {
    lab = await createLab({ name: "dhcp-hands" });
    rack = await DhcpRack.create(lab);
  });
  afterEach(() => lab.close());

  const serve = async (): Promise<void> => {
    rack.desire(A);
    await rack.start();
    await rack.told("it serves", ({ status }) => status.state === "converged");
  };
  const conf = (): string => readFileSync(rack.file("dhcpd.conf"), "utf8");

  it("a hung one is noticed, named, ended and started again", async () => {
    await serve();
    const before = await rack.dhcpdPid();
    kill(before, "SIGSTOP");
    await rack.told("it is named", ({ status }) => status.problems.some(({ code }) => code === "dhcpd-not-answering"), 60_000);
    const { activations } = await rack.told("it serves again", ({ status }) => status.state === "converged");
    expect(activations.at(-1)).toMatchObject({ step: "revive", outcome: "serves" });
    expect(await rack.dhcpdPid()).not.toBe(before);
    await rack.serves(A, B);
  });

  it("one that is hung when the agent starts is found too", async () => {
    await serve();
    await rack.stop();
    const before = await rack.dhcpdPid();
    kill(before, "SIGSTOP");
    await rack.start();
    await rack.told(
      "it is revived",
      ({ activations }) => activations.some(({ step, outcome }) => step === "revive" && outcome === "serves"),
      60_000,
    );
    await rack.serves(A, B);
  });

  it("an edit is undone without a restart, also one that was made while no agent ran", async () => {
    await serve();
    const [before, text] = [await rack.dhcpdPid(), conf()];
    appendFileSync(rack.file("dhcpd.conf"), "# an edit\n");
    await waitUntil(conf, { describe: "the file is right again", until: (now) => now === text });
    await rack.stop();
    writeFileSync(rack.file("dhcpd.conf"), "# another\n");
    await rack.start();
    await waitUntil(conf, { describe: "the file is right again", until: (now) => now === text });
    expect(await rack.dhcpdPid()).toBe(before);
    await rack.serves(A, B);
  });

  it("edits again and again are left alone, named, and handed back by removing the file", { timeout: 240_000 }, async () => {
    await serve();
    const text = conf();
    for (let n = 1; n <= 3; n++) {
      writeFileSync(rack.file("dhcpd.conf"), `# edit ${n}\n`);
      await waitUntil(conf, { describe: `edit ${n} is undone`, until: (now) => now === text });
    }
    const before = await rack.dhcpdPid();
    const edit = `${text}# my own\n`;
    writeFileSync(rack.file("dhcpd.conf"), edit);
    const { status } = await rack.told("it gives way", (told) =>
      told.status.problems.some(({ code }) => code === "foreign-edit"),
    );
    expect([status.state, status.problems[0]?.remedy]).toEqual(["failing", expect.stringContaining("remove")]);
    rack.desire(A, B);
    await rack.told("it knows of the change", (told) => told.status.desired !== status.desired);
    await rack.serves(A, B);
    expect([conf(), await rack.dhcpdPid()]).toEqual([edit, before]);
    rmSync(rack.file("dhcpd.conf"));
    await rack.told("it is ours again", (told) => told.status.state === "converged");
    expect(await rack.served(A, B)).toEqual([A.address, B.address]);
  });

  it("a pipe in the place of its file is named, holds nothing up, and is gone when it is removed", async () => {
    await serve();
    rmSync(rack.file("dhcpd.conf"));
    await rack.host.runOrThrow(["mkfifo", rack.file("dhcpd.conf")]);
    rack.desire(A, B);
    await rack.told("it is named", ({ status }) => status.problems.some(({ code }) => code === "file-unreadable"));
    await rack.serves(A, B);
    rmSync(rack.file("dhcpd.conf"));
    await rack.told("it serves", ({ status }) => status.state === "converged");
    expect(await rack.served(A, B)).toEqual([A.address, B.address]);
  });

  it.each(["mkdir", "mkfifo"])("it is not ended while %s made something else of its leases file", async (make) => {
    await serve();
    const before = await rack.dhcpdPid();
    const leases = rack.file("dhcpd.leases");
    renameSync(leases, `${leases}.aside`);
    await rack.host.runOrThrow([make, leases]);
    rack.desire(A, B);
    await rack.told("it is named", ({ status }) => status.problems.some(({ code }) => code === "leases-not-a-file"));
    expect(await rack.dhcpdPid()).toBe(before);
    await rack.serves(A, B);
    rmSync(leases, { recursive: true });
    renameSync(`${leases}.aside`, leases);
    await rack.told("it serves", ({ status }) => status.state === "converged");
    expect(await rack.served(A, B)).toEqual([A.address, B.address]);
  });

  it("leases outlive their file, which somebody removed before a restart", async () => {
    const window = subnetOf({
      mode: "window",
      gateway: null,
      window: { first: ipAddress("192.168.50.100"), last: ipAddress("192.168.50.101") },
    });
    rack.desireSubnet(window);
    await rack.start();
    await rack.told("it serves", ({ status }) => status.state === "converged");
    const stranger = { mac: "02:00:5e:00:53:31" };
    const { address } = await rack.clients.dora(stranger, { waitMs: 3_000, attempts: 2 });
    expect(address).not.toBeNull();
    const before = await rack.dhcpdPid();
    rmSync(rack.file("dhcpd.leases"));
    rack.desireSubnet({ ...window, leaseTime: 1_234 });
    await rack.told(
      "it runs the change",
      ({ activations }) => activations.at(-1)?.outcome === "serves" && activations.length > 1,
    );
    expect(await rack.dhcpdPid()).not.toBe(before);
    expect(readFileSync(rack.file("dhcpd.leases"), "utf8")).toContain(`lease ${address ?? "none"} {`);
  });

  it("a file that was there before is kept beside, and never overwritten", async () => {
    rack.desire(A);
    await rack.reconcile();
    await rack.host.run(["kill", String(await rack.dhcpdPid())]);
    rmSync(rack.file("dhcpd.conf.managed.json"));
    for (const theirs of ["# theirs\n", "# theirs, later\n"]) {
      writeFileSync(rack.file("dhcpd.conf"), theirs);
      rmSync(rack.file("dhcpd.conf.managed.json"), { force: true });
      const { told } = await rack.reconcile();
      expect(told?.status.state).toBe("converged");
    }
    expect(readFileSync(rack.file("dhcpd.conf.before-berth"), "utf8")).toBe("# theirs\n");
    expect(readFileSync(rack.file("dhcpd.conf.before-berth.2"), "utf8")).toBe("# theirs, later\n");
    expect(existsSync(rack.file("dhcpd.conf.before-berth.3"))).toBe(false);
    await rack.serves(A, B);
  });
});
