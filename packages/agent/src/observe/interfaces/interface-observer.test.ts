import type { HostInterface } from "@berth/core";
import { EnvironmentError, silentLog } from "@berth/host";
import { createFakeClock, createScriptedCommands, type FakeClock, type ScriptedCommands } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import type { FollowPrograms } from "./follow-program.js";
import { createInterfaceObserver, type InterfaceObserver } from "./interface-observer.js";
import { observeInterfaces } from "./observe-interfaces.js";

const SCAN = ["ip", "-json", "-details", "address"] as const;

function hostOf(...addresses: readonly string[]): { readonly stdout: string } {
  const own = addresses.map((local) => ({ family: "inet", local, prefixlen: 24, scope: "global", valid_life_time: 4294967295 }));
  return { stdout: JSON.stringify([{ ifindex: 2, ifname: "eth0", flags: ["UP", "LOWER_UP"], addr_info: own }]) };
}

/** `ip monitor` under the test's hand. */
class FakeMonitor implements FollowPrograms {
  readonly started: string[][] = [];
  stdbuf = true;
  private print: ((line: string | null) => void) | null = null;

  async *lines(argv: readonly [string, ...string[]], signal: AbortSignal): AsyncIterable<string> {
    if (argv[0] === "stdbuf" && !this.stdbuf)
      throw new EnvironmentError("command-not-found", "stdbuf", "stdbuf is not installed");
    this.started.push([...argv]);
    const lines: (string | null)[] = [];
    let wake = (): void => undefined;
    this.print = (line) => {
      lines.push(line);
      wake();
    };
    signal.addEventListener("abort", () => this.print?.(null));
    for (;;) {
      const line = lines.shift();
      if (line === null) return;
      if (line !== undefined) yield line;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  says(line: string): void {
    this.print?.(line);
  }

  dies(): void {
    this.print?.(null);
  }
}

interface Scene {
  readonly clock: FakeClock;
  readonly commands: ScriptedCommands;
  readonly monitor: FakeMonitor;
  readonly observer: InterfaceObserver;
  readonly reports: string[][];
  scans(): number;
  /** In small steps: what a step sets going (a scan, its answer, the next wait) must be under way before the next one. */
  pass(ms: number): Promise<void>;
  stop(): Promise<void>;
}

async function scene(
  ...replies: readonly [Parameters<ScriptedCommands["on"]>[1], ...Parameters<ScriptedCommands["on"]>[1][]]
): Promise<Scene> {
  const [clock, commands, monitor] = [createFakeClock(0), createScriptedCommands(), new FakeMonitor()];
  commands.on(SCAN, ...replies);
  const observer = createInterfaceObserver({ commands, programs: monitor, clock, log: silentLog });
  const reports: string[][] = [];
  observer.onChange((interfaces) => reports.push(addressesOf(interfaces)));
  const stopping = new AbortController();
  const running = observer.run(stopping.signal);
  await clock.advance(50);
  return {
    ...{ clock, commands, monitor, observer, reports },
    scans: () => commands.calls.filter(({ argv }) => argv.includes("address") && argv[0] === "ip").length,
    pass: async (ms) => {
      for (let left = ms; left > 0; left -= 50) await clock.advance(Math.min(left, 50));
      await clock.advance(0);
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

const addressesOf = (interfaces: readonly HostInterface[] | null): string[] =>
  (interfaces ?? []).flatMap((entry) => entry.addresses.map(({ address }) => String(address)));

describe("the interface observer", () => {
  it("reports the first scan, and looks again at once when ip monitor speaks", async () => {
    const it = await scene(hostOf("10.0.0.1"), hostOf("10.0.0.1"), hostOf("10.0.0.1", "10.0.0.50"));
    expect(it.reports).toEqual([["10.0.0.1"]]);
    await it.pass(1000);
    it.monitor.says("2: eth0    inet 10.0.0.50/24 scope global secondary eth0");
    it.monitor.says("       valid_lft forever preferred_lft forever");
    await it.pass(50);
    expect(it.reports).toEqual([["10.0.0.1"], ["10.0.0.1", "10.0.0.50"]]);
    expect(addressesOf(it.observer.current())).toEqual(["10.0.0.1", "10.0.0.50"]);
    await it.stop();
  });

  it("makes ten scans a second of a storm, and none of silence", async () => {
    const it = await scene(hostOf("10.0.0.1"));
    await it.pass(1000);
    const before = it.scans();
    for (let i = 0; i < 100; i++) {
      it.monitor.says(`Deleted 2: eth0    inet 10.0.0.${i}/24 scope global eth0`);
      await it.clock.advance(10);
    }
    expect(it.scans() - before).toBeGreaterThanOrEqual(9);
    expect(it.scans() - before).toBeLessThanOrEqual(12);
    await it.pass(200);
    const quiet = it.scans();
    await it.pass(29_000);
    expect(it.scans()).toBe(quiet);
    await it.pass(2000);
    expect(it.scans()).toBe(quiet + 1);
    expect(it.reports).toHaveLength(1);
    await it.stop();
  });

  it("lets routes wait, but not an address among them", async () => {
    const it = await scene(hostOf("10.0.0.1"), hostOf("10.0.0.1"), hostOf("10.0.0.1", "10.0.0.50"));
    await it.pass(600);
    const before = it.scans();
    it.monitor.says("198.51.100.0/24 via 10.0.0.9 dev eth0 proto bird");
    await it.pass(50);
    expect(it.scans()).toBe(before);
    it.monitor.says("2: eth0    inet 10.0.0.50/24 scope global secondary eth0");
    await it.pass(50);
    expect(it.reports).toHaveLength(2);
    await it.stop();
  });

  it("takes neither an empty nor a failed scan for a report, says so, and recovers", async () => {
    const it = await scene(
      hostOf("10.0.0.1"),
      { stdout: "[]" },
      { status: 1, stderr: "Cannot open netlink socket" },
      "times-out",
      hostOf("10.0.0.1"),
    );
    it.monitor.says("3: eth1: <UP> mtu 1500");
    await it.pass(100);
    expect(it.observer.state()).toMatchObject({ kind: "failing", code: "interfaces-unreadable" });
    expect(addressesOf(it.observer.current())).toEqual(["10.0.0.1"]);
    await it.pass(3100);
    expect(it.observer.state()).toMatchObject({ kind: "watching" });
    expect(it.reports).toEqual([["10.0.0.1"]]);
    await it.stop();
  });

  it("reports nothing when only lifetimes ticked", async () => {
    const leased = (seconds: number) => ({
      stdout: JSON.stringify([
        { ifname: "eth0", addr_info: [{ local: "10.0.0.1", prefixlen: 24, dynamic: true, valid_life_time: seconds }] },
      ]),
    });
    const it = await scene(leased(600), leased(570), leased(540));
    await it.pass(65_000);
    expect(it.scans()).toBeGreaterThan(2);
    expect(it.reports).toHaveLength(1);
    await it.stop();
  });

  it("starts ip monitor again when it dies, more and more slowly, and looks for what it missed", async () => {
    const it = await scene(hostOf("10.0.0.1"), hostOf("10.0.0.1"), hostOf("10.0.0.2"));
    await it.pass(600);
    for (const [after, count] of [
      [1000, 1],
      [1000, 2],
      [3900, 2],
      [100, 3],
    ] as const) {
      if (count !== 2 || after === 3900) it.monitor.dies();
      await it.pass(after);
      expect(it.monitor.started).toHaveLength(count);
    }
    await it.pass(600);
    expect(it.reports.at(-1)).toEqual(["10.0.0.2"]);
    await it.stop();
  });

  it("does without stdbuf", async () => {
    const commands = createScriptedCommands();
    commands.on(SCAN, hostOf("10.0.0.1"));
    const monitor = new FakeMonitor();
    monitor.stdbuf = false;
    const stopping = new AbortController();
    const clock = createFakeClock(0);
    const running = createInterfaceObserver({ commands, programs: monitor, clock, log: silentLog }).run(stopping.signal);
    await clock.advance(100);
    expect(monitor.started).toEqual([["ip", "monitor", "address", "link", "route"]]);
    stopping.abort();
    await running;
  });

  it("reads text where ip knows no JSON", async () => {
    const commands = createScriptedCommands();
    commands.on(SCAN, { status: 255, stderr: 'Option "-json" is unknown, try "ip -help".' });
    commands.on(["ip", "-details", "address"], { stdout: "2: eth0    inet 10.0.0.1/24 scope global eth0" });
    expect(addressesOf(await observeInterfaces(commands))).toEqual(["10.0.0.1"]);
  });

  it("asks for neighbours on demand", async () => {
    const it = await scene(hostOf("10.0.0.1"));
    it.commands.on(["ip", "-json", "neigh"], {
      stdout: '[{"dst":"10.0.0.9","dev":"eth0","lladdr":"02:00:00:00:00:09","state":["REACHABLE"]}]',
    });
    expect(await it.observer.neighbors()).toMatchObject([{ address: "10.0.0.9", interfaceName: "eth0" }]);
    await it.stop();
  });
});
