import { EnvironmentError, systemCommands, type Commands } from "@berth/host";
import { createScriptedCommands } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";

const sh = (script: string): readonly [string, ...string[]] => ["sh", "-c", script];

/** The commands of the suite, as the shell runs them and as they are scripted. */
function scripted(): Commands {
  const commands = createScriptedCommands();
  commands.on(sh("exit 0"), {});
  commands.on(sh("echo out; echo err >&2; exit 3"), { status: 3, stdout: "out\n", stderr: "err\n" });
  commands.on(sh("kill -KILL $$"), { status: null, signal: "SIGKILL" });
  commands.on(["cat"], (_argv, options) => ({ stdout: options.input ?? "" }));
  commands.on(["printf"], (argv) => ({ stdout: argv[2] ?? "" }));
  commands.on(sh("sleep 60"), "times-out");
  commands.on(sh("sleep 60 & sleep 60; true"), "times-out");
  commands.on(["sleep", "60"], "hangs");
  commands.on(sh("head -c 1000 /dev/zero | tr '\\0' x"), { stdout: "x".repeat(1000) });
  commands.on(sh("head -c 1000 /dev/zero | tr '\\0' x >&2"), { stderr: "x".repeat(1000) });
  commands.on(["no-such-program-of-berth"], "not-installed");
  return commands;
}

const subjects: readonly [string, () => Commands][] = [
  ["systemCommands", () => systemCommands],
  ["scripted commands", scripted],
];

async function codeOf(call: Promise<unknown>): Promise<string> {
  const error: unknown = await call.then(
    () => new Error("it did not fail"),
    (e: unknown) => e,
  );
  if (!(error instanceof EnvironmentError)) throw error;
  return `${error.code} at ${error.at}`;
}

describe.each(subjects)("the contract of Commands: %s", (_name, make) => {
  it("answers with status and both streams, whatever the status", async () => {
    expect(await make().run(sh("exit 0"))).toEqual({ status: 0, signal: null, stdout: "", stderr: "" });
    const result = await make().run(sh("echo out; echo err >&2; exit 3"));
    expect(result).toEqual({ status: 3, signal: null, stdout: "out\n", stderr: "err\n" });
  });

  it("answers with the signal that ended the program", async () => {
    expect(await make().run(sh("kill -KILL $$"))).toEqual({ status: null, signal: "SIGKILL", stdout: "", stderr: "" });
  });

  it("hands over the input, and an empty one unless told", async () => {
    expect((await make().run(["cat"], { input: "zone { };\nä" })).stdout).toBe("zone { };\nä");
    expect((await make().run(["cat"])).stdout).toBe("");
  });

  it("does not mind a program that reads no input", async () => {
    expect((await make().run(sh("exit 0"), { input: "x".repeat(1_000_000) })).status).toBe(0);
  });

  it("passes arguments as they are: no shell looks at them", async () => {
    const nasty = "$(id) `id` ; | > & * \" ' \\ \n";
    expect((await make().run(["printf", "%s", nasty])).stdout).toBe(nasty);
  });

  it("tells a program that is not there from one that fails", async () => {
    expect(await codeOf(make().run(["no-such-program-of-berth"]))).toBe("command-not-found at no-such-program-of-berth");
  });

  it("ends a program that takes too long", async () => {
    expect(await codeOf(make().run(sh("sleep 60"), { timeoutMs: 50 }))).toBe("command-timeout at sh");
  });

  it("ends what the program started as well: it would hold the output open", async () => {
    expect(await codeOf(make().run(sh("sleep 60 & sleep 60; true"), { timeoutMs: 50 }))).toBe("command-timeout at sh");
  });

  it("ends a program that prints too much, and takes what is just enough", async () => {
    const toStdout = sh("head -c 1000 /dev/zero | tr '\\0' x");
    const toStderr = sh("head -c 1000 /dev/zero | tr '\\0' x >&2");
    expect(await codeOf(make().run(toStdout, { outputMax: 999 }))).toBe("command-output-too-large at sh");
    expect(await codeOf(make().run(toStderr, { outputMax: 999 }))).toBe("command-output-too-large at sh");
    expect((await make().run(toStdout, { outputMax: 1000 })).stdout).toBe("x".repeat(1000));
  });

  it("rejects with the signal's reason when it is aborted", async () => {
    const abort = new AbortController();
    const reason = new Error("shutting down");
    const run = make().run(["sleep", "60"], { signal: abort.signal });
    setImmediate(() => abort.abort(reason));
    await expect(run).rejects.toBe(reason);
  });

  it("rejects with the signal's reason when it was aborted before", async () => {
    const reason = new Error("shutting down");
    await expect(make().run(["sleep", "60"], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe("scripted commands alone", () => {
  it("answers call after call, the last reply for ever, the longest beginning first", async () => {
    const commands = createScriptedCommands();
    commands.on(["dhcpd"], { status: 1 }, { status: 2 });
    commands.on(["dhcpd", "-t"], { status: 0 });
    const statuses = [];
    for (const argv of [["dhcpd", "-f"], ["dhcpd", "-t"], ["dhcpd"], ["dhcpd"]] as const) {
      statuses.push((await commands.run(argv)).status);
    }
    expect(statuses).toEqual([1, 0, 2, 2]);
    expect(commands.calls.map((call) => call.argv.join(" "))).toEqual(["dhcpd -f", "dhcpd -t", "dhcpd", "dhcpd"]);
  });

  it("throws a plain error that names a command without a script", async () => {
    await expect(createScriptedCommands().run(["rndc", "reload"])).rejects.toThrow("no script for the command: rndc reload");
  });
});
