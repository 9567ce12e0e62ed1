import { createServer } from "node:http";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ADMIN_TOKEN, READ_TOKEN } from "./api-fixture.js";
import { createCliFixture, runBerth, type CliFixture } from "./cli-fixture.js";

let fixture: CliFixture;
beforeEach(async () => {
  fixture = await createCliFixture();
});
afterEach(() => fixture.close());

const CREATE = ["subnet", "create", "192.168.50.0/24", "--domain", "rack1.example", "--mode", "static"];

describe("a refusal exits with 1 and says place, reason and remedy", () => {
  it("a prefix with host bits", async () => {
    expect(await fixture.berth(["subnet", "create", "192.168.50.7/24", "--domain", "rack1.example"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "error: prefix: '192.168.50.7/24' has host bits set [prefix-host-bits]\n  remedy: the network is 192.168.50.0/24\n",
    });
  });

  it("a window outside its subnet", async () => {
    const run = await fixture.berth([
      "subnet",
      "create",
      "192.168.50.0/24",
      "--domain",
      "rack1.example",
      "--window",
      "192.168.51.1-192.168.51.9",
    ]);
    expect(run).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^error: window.*: .*192\.168\.50\.0\/24/) as string,
    });
  });

  it("overlapping subnets", async () => {
    await fixture.berth(CREATE);
    const run = await fixture.berth(["subnet", "create", "192.168.0.0/16", "--domain", "other.example"]);
    expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining("192.168.50.0/24") as string });
  });

  it("one MAC on two machines", async () => {
    await fixture.berth(CREATE);
    await fixture.berth(["machine", "enroll", "02:00:00:00:00:01", "--name", "one", "--subnet", "1"]);
    await fixture.berth(["machine", "enroll", "02:00:00:00:00:02", "--name", "two", "--subnet", "1"]);
    const run = await fixture.berth([
      "machine",
      "enroll",
      "02:00:00:00:00:01",
      "02:00:00:00:00:02",
      "--name",
      "one",
      "--subnet",
      "1",
    ]);
    expect(run).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^error: .*02:00:00:00:00:02/s) as string });
  });

  it("several wrong values at once", async () => {
    const run = await fixture.berth([...CREATE, "--gateway", "nonsense", "--lease-time", "1s", "--reserve", "a-b"]);
    expect(run.code).toBe(1);
    for (const place of ["gateway", "leaseTime", "reserved[0].first", "reserved[0].last"])
      expect(run.stderr).toContain(`error: ${place}: `);
  });

  it("a wrong token, no token, and a token that may only read", async () => {
    for (const token of ["wrong", ""]) {
      const run = await fixture.berth(["subnet", "list"], { BERTH_TOKEN: token });
      expect(run).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(/^error: authorization: .*\n {2}remedy: .*BERTH_TOKEN/) as string,
      });
    }
    expect(await fixture.berth(CREATE, { BERTH_TOKEN: READ_TOKEN })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("needs operate") as string,
    });
  });

  it("what is not there", async () => {
    for (const args of [
      ["subnet", "show", "9"],
      ["machine", "show", "x"],
      ["machine", "release", "x"],
      ["rack", "show", "x"],
      ["subnet", "remove", "10.0.0.0/8"],
      ["lease", "list", "--rack", "nope"],
      ["allocation", "list", "--machine", "nope"],
      ["allocation", "list", "--subnet", "9"],
    ])
      expect(await fixture.berth(args)).toMatchObject({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(/^error: /) as string,
      });
  });
});

describe("wrong usage exits with 2", () => {
  it.each([
    [[]],
    [["subnet"]],
    [["sbunet", "list"]],
    [["subnet", "create"]],
    [["subnet", "create", "10.0.0.0/8"]],
    [[...CREATE, "--mode", "wide"]],
    [[...CREATE, "--window", "10.0.0.1"]],
    [[...CREATE, "--lease-time", "soon"]],
    [[...CREATE, "--colour", "red"]],
    [["subnet", "set", "1"]],
    [["rack", "list", "-o", "xml"]],
    [["audit", "list", "--limit", "0"]],
    [["rack", "list", "extra"]],
    [["completion", "tcsh"]],
  ])("berth %j", async (args) => {
    const run = await fixture.berth(args);
    expect(run).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).not.toBe("");
  });

  it("asks for help and the version exit with 0, on stdout", async () => {
    expect(await fixture.berth(["--version"])).toEqual({ code: 0, stdout: "0.1.0\n", stderr: "" });
    const help = await fixture.berth(["--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    for (const word of ["BERTH_URL", "Exit codes", "machine", "completion"]) expect(help.stdout).toContain(word);
    expect((await fixture.berth(["subnet", "create", "--help"])).stdout).toContain("--enlist-lease");
  });
});

describe("a world in the way exits with 3 and says what to check", () => {
  const down = (env: Record<string, string>) => runBerth(["rack", "list"], env, () => 0);

  it("nobody listens", async () => {
    const socket = join(fixture.folder, "none.sock");
    const unix = await down({ BERTH_URL: `unix:${socket}` });
    expect(unix).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringMatching(/none\.sock: no coordinator answers: .*ENOENT.*\n {2}remedy: check /) as string,
    });
    const tcp = await down({ BERTH_URL: "http://127.0.0.1:1" });
    expect(tcp).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^error: http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED.*\n {2}remedy: check /) as string,
    });
  });

  it("somebody else listens", async () => {
    const other = createServer((_request, response) => response.end("<html>hello</html>")).listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    expect(await down({ BERTH_URL: `http://127.0.0.1:${port}` })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("not one of a Berth coordinator") as string,
    });
    other.close();
  });

  it.each(["ftp://x", "nonsense", "http://127.0.0.1/path", "unix:relative.sock", "http://user@host"])(
    "BERTH_URL=%s",
    async (url) => {
      expect(await down({ BERTH_URL: url })).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/^error: BERTH_URL: /) as string,
      });
    },
  );

  it("a token file that is not there, or holds no token", async () => {
    const file = join(fixture.folder, "token");
    const env = { BERTH_TOKEN: "", BERTH_TOKEN_FILE: file };
    expect(await fixture.berth(["rack", "list"], env)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(file) as string,
    });
    await writeFile(file, "two words");
    expect(await fixture.berth(["rack", "list"], env)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("not a token") as string,
    });
    await writeFile(file, `${ADMIN_TOKEN}\n`);
    expect(await fixture.berth(["rack", "list"], { ...env, BERTH_URL: fixture.urls.tcp })).toMatchObject({ code: 0 });
    await mkdir(join(fixture.folder, "folder"));
  });
});
