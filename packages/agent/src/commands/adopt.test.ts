import { dirname } from "node:path";
import { EnvironmentError } from "@berth/host";
import { createMemoryFiles, createScriptedCommands } from "@berth/host/fakes";
import { expect, test } from "vitest";
import { Command } from "commander";
import { registerAdopt } from "./adopt.js";

interface Run {
  stdout: string;
  stderr: string;
  code: number | null;
}

async function adopt(content: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Run> {
  const files = createMemoryFiles();
  for (const [path, text] of Object.entries(content)) {
    await files.ensureDirectory(dirname(path));
    await files.replace(path, text);
  }
  const run: Run = { stdout: "", stderr: "", code: null };
  const program = new Command().exitOverride();
  const commands = createScriptedCommands();
  commands.on(["ip"], { stdout: INTERFACES });
  registerAdopt(program, {
    commands,
    files: {
      read: (path, limit) => {
        if (path.endsWith("secret.conf")) throw new EnvironmentError("file-unreadable", path, "not yours");
        return files.read(path, limit);
      },
    },
    stdout: (text) => void (run.stdout += text),
    stderr: (text) => void (run.stderr += text),
    exitWith: (code) => void (run.code = code),
  });
  await program.parseAsync(["adopt", ...args], { from: "user" });
  return run;
}

const INTERFACES = JSON.stringify([
  { ifname: "eth0", flags: ["UP"], addr_info: [{ family: "inet", local: "10.0.0.1", prefixlen: 24, scope: "global" }] },
]);

const CONF = `option domain-name "a.example";
subnet 10.0.0.0 netmask 255.255.255.0 { range 10.0.0.10 10.0.0.20; default-lease-time 600; max-lease-time 900; }
include "hosts.d/all.conf";
`;

test("shows subnets, machines of included files and the count, with status 0 when nothing is lost", async () => {
  const host = "host a { hardware ethernet 00:00:5e:00:53:01; fixed-address 10.0.0.5; }\n";
  const run = await adopt({ "/etc/dhcp/dhcpd.conf": CONF, "/etc/dhcp/hosts.d/all.conf": host }, "/etc/dhcp/dhcpd.conf");
  expect(run.code).toBe(0);
  expect(run.stdout).toMatch(/^SUBNET +MODE +WINDOW/);
  expect(run.stdout).toContain("10.0.0.0/24   window   10.0.0.10-10.0.0.20");
  expect(run.stdout).toContain("10.0.0.5   a      00:00:5e:00:53:01   hosts.d/all.conf:1");
  expect(run.stdout).toContain("1 subnets, 1 machines, 0 statements without counterpart, 0 unreadable\n");
});

test("says what cannot be read or has no counterpart, with status 1", async () => {
  const run = await adopt({ "/d.conf": `${CONF}include "/secret.conf";\nserver-name "x\\033[2J";\n` }, "/d.conf", "--json");
  expect(run.code).toBe(1);
  const plan = JSON.parse(run.stdout) as { unreadable: { at: string }[]; withoutCounterpart: { at: string; text: string }[] };
  expect(plan.unreadable.map(({ at }) => at)).toEqual(["/d.conf:3", "/d.conf:4"]);
  expect(plan.withoutCounterpart).toMatchObject([{ at: "/d.conf:5", text: 'server-name "x?[2J"' }]);
});

const FAR = "subnet 10.9.0.0 netmask 255.255.255.0 { range 10.9.0.10 10.9.0.20; }\n";

test("tells links of this host, or of the one that is named, from relayed networks", async () => {
  const relayOf = async (...args: readonly string[]): Promise<unknown> => {
    const run = await adopt({ "/d.conf": `${CONF.replace(/include.*/, "")}${FAR}` }, "/d.conf", "--json", ...args);
    const { subnets } = JSON.parse(run.stdout) as { subnets: { prefix: string; dhcp: { relay?: unknown } | null }[] };
    return subnets.map(({ dhcp }) => dhcp?.relay ?? null);
  };
  expect(await relayOf()).toEqual([null, { servers: ["10.0.0.1"] }]);
  expect(await relayOf("--address", "10.9.0.2", "--address", "192.0.2.1")).toEqual([{ servers: ["10.9.0.2"] }, null]);
  expect(await relayOf("--address", "192.0.2.1")).toEqual([null, null]);
});

test("a file that is not there is a failure of the world", async () => {
  const run = await adopt({}, "/absent.conf");
  expect(run).toMatchObject({ code: 3, stdout: "" });
  expect(run.stderr).toContain("file-missing");
});
