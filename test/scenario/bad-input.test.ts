import { rm, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Rack } from "../lab/berth-rack.js";
import { waitUntil } from "../lab/wait-until.js";
import { createStage, type Stage } from "./stage.js";

/** Bad input gets a clear error with place and remedy, a status that is not 0, and never disturbs what serves. */
describe("bad input", () => {
  let stage: Stage;
  let serving: string;
  const running = async (): Promise<string> =>
    JSON.stringify((await stage.rack.status())?.daemons.map((daemon) => [daemon.name, daemon.running]));

  beforeAll(async () => {
    stage = await createStage("bad-input", () => undefined);
    serving = await running();
  });
  afterAll(() => stage.lab.close());

  it.each([
    [
      "host bits",
      ["subnet", "create", "192.168.60.7/24", "--domain", "x.example", "--mode", "off"],
      "prefix-host-bits",
      /192\.168\.60\.0\/24/,
    ],
    [
      "a window outside its subnet",
      [
        "subnet",
        "create",
        "192.168.60.0/24",
        "--domain",
        "x.example",
        "--mode",
        "window",
        "--window",
        "192.168.61.10-192.168.61.20",
      ],
      "window-outside",
      /192\.168\.60\.0\/24/,
    ],
    [
      "overlapping subnets",
      ["subnet", "create", "192.168.50.128/25", "--domain", "x.example", "--mode", "off"],
      "subnet-overlaps",
      /192\.168\.50\.0\/24/,
    ],
    ["half a MAC", ["machine", "enroll", "02:00:5e"], "nic-malformed", /octets/],
    ["an address that cannot be", ["machine", "enroll", "02:00:5e:00:53:77", "--address", "192.168.50.255"], "", /broadcast/],
    ["an unknown machine", ["machine", "release", "nobody"], "", /nobody/],
  ])("refuses %s", async (_, args, code, says) => {
    const { status, stderr } = await stage.region.berth(...args);
    expect(status === 1 || status === 2, `status ${status}`).toBe(true);
    expect(stderr).toMatch(says);
    expect(stderr).toContain(code);
    expect(await running()).toBe(serving);
  });

  it("refuses one MAC on two machines and says whose it is", async () => {
    const first = await stage.region.berth("machine", "enroll", "02:00:5e:00:53:71", "--name", "first");
    expect(first.status).toBe(0);
    const second = await stage.region.berth("machine", "enroll", "02:00:5e:00:53:72", "02:00:5e:00:53:71", "--name", "second");
    expect(second.status).toBe(1);
    expect(second.stderr).toMatch(/02:00:5e:00:53:71/);
    expect(second.stderr).toMatch(/first/);
  });

  it("names every wrong key of a broken configuration and leaves the running service alone", async () => {
    const before = await stage.rack.waitUntilServing();
    const file = stage.rack.host.path("broken.yaml");
    await writeFile(file, "state: 5\ncolour: red\nnamed: { port: 99999 }\n");
    const { status, stderr } = await stage.rack.agent("run", "--config", file);
    expect(status).toBe(2);
    for (const place of ["broken.yaml:1: state", "broken.yaml:2: colour", "broken.yaml:3: named.port"])
      expect(stderr).toContain(place);
    expect((await stage.rack.status())?.daemons).toEqual(before.daemons);
  });

  it("refuses a second agent on the same state folder, and a second coordinator on the same data folder", async () => {
    const agent = await stage.rack.agent("run", "--config", stage.rack.configFile);
    expect([agent.status, agent.stderr]).toEqual([3, expect.stringContaining("already-running")]);
    const coordinator = await stage.region.host.run(stage.region.argv);
    expect([coordinator.status, coordinator.stderr]).toEqual([3, expect.stringContaining("data-folder-in-use")]);
  });

  it("says what a leases file is that cannot be read", async () => {
    const { status, stderr } = await stage.rack.agent("leases", stage.rack.stateDir);
    expect(status).toBe(3);
    expect(stderr).toContain(stage.rack.stateDir);
  });

  it("names the holder of an occupied port, and serves as soon as it is free", async () => {
    const { rack, region } = stage;
    await rack.stop();
    await rack.agent("stop-daemons", "--config", rack.configFile);
    const script = 'require("node:dgram").createSocket("udp4").bind(67, "0.0.0.0", () => console.log("bound"))';
    const squatter = await rack.host.spawn([process.execPath, "-e", script]);
    await squatter.waitForLine(/bound/);
    await rack.start();
    const problem = await waitUntil(async () => (await rack.status())?.daemons.flatMap(({ problems }) => problems).at(0), {
      describe: "the port's problem",
    });
    expect(problem?.code).toBe("port-occupied");
    expect(problem?.message).toContain(`pid ${squatter.pid}`);
    await waitUntil(() => region.berth("problem", "list"), {
      describe: "the problem in the region",
      until: ({ status, stdout }) => status === 1 && stdout.includes("port-occupied"),
    });
    await squatter.stop();
    await rack.waitUntilServing();
  });

  it("names the package of a missing dhcpd, and keeps serving DNS", async () => {
    const { rack } = stage;
    await rack.stop();
    await rack.agent("stop-daemons", "--config", rack.configFile);
    const lame = new Rack(rack.host, { dhcpd: { program: "/nonexistent/dhcpd" } });
    const checked = await lame.agent("check", "--config", lame.configFile);
    expect([checked.status, checked.stderr]).toEqual([1, expect.stringContaining("isc-dhcp-server")]);
    await lame.start();
    const status = await waitUntil(() => lame.status(), {
      describe: "named serves, dhcpd is missed",
      until: (now) =>
        now?.daemons.some(({ name, state }) => name === "named" && state === "converged") === true &&
        now.daemons.some(({ problems }) => problems.length > 0),
    });
    expect(status?.daemons.find(({ name }) => name === "dhcpd")?.problems[0]?.code).toBe("command-not-found");
    await lame.stop();
    const again = new Rack(rack.host);
    await again.start();
    await again.waitUntilServing();
    await again.stop();
  });

  it("keeps what runs when the saved desired state is torn, and gets it again from the region", async () => {
    const rack = new Rack(stage.rack.host);
    await rm(rack.path("desired.previous.json"), { force: true });
    await writeFile(rack.path("desired.json"), '{"digest":"');
    await rack.start();
    const status = await rack.waitUntilServing();
    expect(status.accepted).toBeGreaterThan(0);
    await rack.stop();
  });
});
