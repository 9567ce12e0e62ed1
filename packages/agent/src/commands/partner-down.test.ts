import { DesiredDigests, type DesiredState } from "@berth/core";
import { sha256 } from "@berth/host";
import { createMemoryFiles } from "@berth/host/fakes";
import { Command } from "commander";
import { expect, it } from "vitest";
import { subnetOf } from "../../../../test/fixtures/dhcpd/subnet.js";
import { openDesiredFiles } from "../desired/desired-files.js";
import type { AgentCliPorts } from "./agent-cli-ports.js";
import { registerPartnerDown } from "./partner-down.js";

const failover = { role: "primary", address: "192.168.50.1", partner: "192.168.50.2", port: 647, mclt: 60, split: 128 };

it("finds the subnet by its prefix in what the rack was last told, with no region to ask", async () => {
  const files = createMemoryFiles();
  files.put("/etc/agent.yaml", "state: /state\n");
  const shared = { ...subnetOf({ id: 7 }), failover };
  const state = { format: 1, rack: "r", generation: 1, subnets: [shared], zones: [], queryFrom: [], forwarders: [] };
  await files.ensureDirectory("/state");
  const desired = await openDesiredFiles({ files, stateDir: "/state", digests: new DesiredDigests(sha256) });
  await desired.files.keep(state as unknown as DesiredState);

  const partnerDown = async (subnet: string): Promise<string> => {
    let stderr = "";
    const ports = { files, stdout: () => undefined, stderr: (text: string) => (stderr += text), exitWith: () => undefined };
    const program = new Command();
    registerPartnerDown(program, ports as unknown as AgentCliPorts);
    await program.parseAsync(["partner-down", subnet, "--config", "/etc/agent.yaml"], { from: "user" });
    return stderr;
  };
  expect(await partnerDown("192.168.50.0/24")).toContain("[omapi-off]");
  expect(await partnerDown("7")).toContain("[omapi-off]");
  expect(await partnerDown("192.168.51.0/24")).toMatch(/no window there.*7 \(192\.168\.50\.0\/24\).*\[no-failover-there\]/);
});
