import { systemClock, systemCommands, systemFiles } from "@berth/host";
import { expect, it } from "vitest";
import { runAgentCli } from "./create-cli.js";

/** An escape sequence, the one-octet form of its beginning as UTF-8 and alone, and a direction mark. */
const NAME = "\\033[2J\\302\\23331m\\342\\200\\256evil";
const PIPED = `lease 192.0.2.7 {\n  ends never;\n  binding state active;\n  client-hostname "${NAME}";\n}\n`;

async function run(...args: readonly string[]) {
  let [code, stdout, stderr] = [-1, "", ""];
  await runAgentCli(args, {
    files: systemFiles,
    commands: systemCommands,
    clock: systemClock,
    pid: 1,
    hostname: "rack1",
    journal: false,
    // eslint-disable-next-line @typescript-eslint/require-await
    async *stdin() {
      yield Buffer.from(PIPED, "latin1");
    },
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
    exitWith: (status) => (code = status),
    endingSignal: () => new AbortController().signal,
  });
  return { code, stdout, stderr };
}

it.each([[[]], [["--json"]]])("prints nothing that a terminal acts upon, whatever a client calls itself %j", async (options) => {
  const { code, stdout } = await run("leases", "-", ...options);
  expect(code).toBe(0);
  expect(stdout).toContain("evil");
  expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

it("says the same in JSON as without the escapes", async () => {
  const { stdout } = await run("leases", "-", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ leases: { "192.0.2.7": { hostname_raw: "\u001b[2J\u009b31m\u202eevil" } } });
});

it("prints no such character of a path in an error", async () => {
  const { code, stderr } = await run("leases", "/dev/null/\u001b[31m/..");
  expect(code).toBe(0);
  expect(stderr).toContain("\\u001b[31m");
});
