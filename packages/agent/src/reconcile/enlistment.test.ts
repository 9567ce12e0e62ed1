import { ipAddress } from "@berth/core";
import { silentLog } from "@berth/host";
import { createMemoryFiles, createScriptedCommands } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import { createEnlistmentLinks, type EnlistmentAddress } from "./enlistment.js";

const on = (link: string, address: string): EnlistmentAddress => ({ link, address: ipAddress(address), prefixLength: 20 });
const ok = { status: 0, signal: null, stdout: "", stderr: "" };

/** Memory files with the state folder that the agent makes at its start. */
function memoryFiles() {
  const files = createMemoryFiles();
  files.put("/state/.folder", "");
  return files;
}

describe("enlistment addresses", () => {
  const present = new Set<string>();
  const linksOf = (files: ReturnType<typeof memoryFiles>, commands: ReturnType<typeof createScriptedCommands>) =>
    createEnlistmentLinks({
      files,
      commands,
      log: silentLog,
      stateDir: "/state",
      isPresent: ({ address }) => present.has(address),
    });

  function setUp(replies: Parameters<ReturnType<typeof createScriptedCommands>["on"]>[1] = ok) {
    const files = memoryFiles();
    const commands = createScriptedCommands();
    commands.on(["ip"], replies);
    return { files, commands, links: linksOf(files, commands) };
  }
  const said = (commands: ReturnType<typeof createScriptedCommands>): string[] =>
    commands.calls.map(({ argv }) => argv.join(" "));

  it("adds what is wanted, and takes away only what it once added", async () => {
    const { commands, links } = setUp();
    await links.ensure([on("eth0", "169.254.16.1"), on("eth1", "169.254.32.1")]);
    await links.ensure([on("eth1", "169.254.32.1")]);
    expect(said(commands)).toEqual([
      "ip addr replace 169.254.16.1/20 dev eth0",
      "ip addr replace 169.254.32.1/20 dev eth1",
      "ip addr replace 169.254.32.1/20 dev eth1",
      "ip addr del 169.254.16.1/20 dev eth0",
    ]);
  });

  it("puts one back that is gone, and does nothing while all is as it should be", async () => {
    const { commands, links: own } = setUp();
    await own.ensure([on("eth0", "169.254.16.1")]);
    present.add("169.254.16.1");
    await own.ensure([on("eth0", "169.254.16.1")]);
    present.clear();
    await own.ensure([on("eth0", "169.254.16.1")]);
    const add = "ip addr replace 169.254.16.1/20 dev eth0";
    expect(said(commands)).toEqual([add, add]);
  });

  it.each(["garbage", "", '[{"link":7}]'])("counts a damaged record as none: %s", async (text) => {
    const { files, commands } = setUp();
    files.put("/state/enlistment-addresses.json", text);
    await linksOf(files, commands).ensure([on("eth0", "169.254.16.1")]);
    expect(said(commands)).toEqual(["ip addr replace 169.254.16.1/20 dev eth0"]);
    expect(JSON.parse(files.text("/state/enlistment-addresses.json") ?? "")).toEqual([on("eth0", "169.254.16.1")]);
  });

  it("remembers over a restart what it added, even if it was ended in between", async () => {
    const { files, commands } = setUp({ ...ok, status: 1, stderr: "RTNETLINK answers: No buffer space available" });
    await expect(linksOf(files, commands).ensure([on("eth0", "169.254.16.1")])).rejects.toMatchObject({
      code: "address-not-set",
    });
    const later = createScriptedCommands();
    later.on(["ip"], ok);
    await linksOf(files, later).ensure([]);
    expect(said(later)).toEqual(["ip addr del 169.254.16.1/20 dev eth0"]);
  });

  it("does not mind an address or interface that is gone already", async () => {
    const { files, links } = setUp();
    await links.ensure([on("eth0", "169.254.16.1")]);
    const commands = createScriptedCommands();
    commands.on(["ip"], { ...ok, status: 2, stderr: 'Cannot find device "eth0"' });
    await linksOf(files, commands).ensure([]);
    expect(JSON.parse(files.text("/state/enlistment-addresses.json") ?? "")).toEqual([]);
  });
});
