import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { renderOmapiKey } from "@berth/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { goldenCase } from "../../golden-cases.js";
import { berthProgram } from "../berth-region.js";
import type { Host } from "../host.js";
import { createLab, type Lab } from "../lab.js";
import type { RunResult } from "../run-program.js";
import { requireTools } from "../require-tools.js";
import { serveGolden } from "./rendered-rack.js";

const PORT = 7911;

describe("berth-agent partner-down", () => {
  let lab: Lab;
  let racks: readonly [Host, Host];
  beforeEach(async () => {
    requireTools(["ip", "dhcpd"]);
    lab = await createLab({ name: "partner-down.test" });
    const link = await lab.addLink("rack");
    const add = async (name: string, address: string): Promise<Host> => {
      const rack = await lab.addRack(name, { backbone: null });
      await rack.connect(link, { addresses: [`${address}/24`] });
      return rack;
    };
    racks = [await add("one", "192.168.50.1"), await add("two", "192.168.50.2")];
  });
  afterEach(() => lab.close());

  /** A rack's agent that has been there: its configuration, and the key that its dhcpd was started with. */
  function agentOf(rack: Host, omapi: boolean): { readonly keyFile: string; partnerDown(subnet: string): Promise<RunResult> } {
    const state = rack.path("agent");
    mkdirSync(`${state}/dhcpd`, { recursive: true });
    const keyFile = `${state}/dhcpd/omapi.key`;
    writeFileSync(keyFile, renderOmapiKey(randomBytes(32).toString("base64")), { mode: 0o600 });
    const config = rack.path("agent.yaml");
    const dhcpd = { program: rack.unconfined("dhcpd"), ...(omapi ? { omapi: { port: PORT } } : {}) };
    writeFileSync(config, stringify({ state, dhcpd }));
    return {
      keyFile,
      partnerDown: (subnet) => rack.run([berthProgram("berth-agent"), "partner-down", subnet, "--config", config]),
    };
  }

  it("is taken by a rack that lost its partner, and by no other", async () => {
    const agent = agentOf(racks[1], true);
    const omapi = { port: PORT, keyFile: agent.keyFile };
    const primary = await serveGolden(racks[0], goldenCase("failover-primary"));
    const secondary = await serveGolden(racks[1], goldenCase("failover-secondary"), ["eth0"], omapi);
    await secondary.waitForLine("Both servers normal", { deadlineMs: 60_000 });
    expect(await agent.partnerDown("1")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("partner-not-lost") as string,
    });
    expect(await agent.partnerDown("192.168.50.0/24")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("no-failover-there") as string, // this folder has no desired state
    });
    expect(await agent.partnerDown("2")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("omapi-not-found") as string,
    });

    await primary.stop({ signal: "SIGKILL" });
    await secondary.waitForLine("to communications-interrupted", { deadlineMs: 60_000 });
    const told = await agent.partnerDown("1");
    expect(told).toMatchObject({ status: 0, stdout: expect.stringContaining("subnet 1: partner-down") as string });
    await secondary.waitForLine("I move from communications-interrupted to partner-down");
    expect(await agent.partnerDown("1")).toMatchObject({ status: 0, stdout: expect.stringContaining("before") as string });
  });

  it("says what to do where OMAPI is off or nothing listens", async () => {
    expect(await agentOf(racks[0], false).partnerDown("1")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("dhcpd.omapi.port") as string,
    });
    expect(await agentOf(racks[1], true).partnerDown("1")).toMatchObject({ status: 3 });
    expect(await agentOf(racks[1], true).partnerDown("x")).toMatchObject({ status: 2 });
  });
});
