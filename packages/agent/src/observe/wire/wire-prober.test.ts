import { ipAddress, parseNeighbors, type Neighbor } from "@berth/core";
import { createFakeClock, createScriptedCommands } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import { BATCH, createWireProber, type WireTarget } from "./wire-prober.js";

const SOURCE = ipAddress("192.168.50.1");
const IPUTILS = { status: 2, stderr: "  -D            duplicate address detection mode\n" };
const [A, B] = ["02:00:5e:00:53:0a", "02:00:5e:00:53:0b"];

function target(last: number): WireTarget {
  return { address: ipAddress(`192.168.50.${last}`), interfaceName: "eth0", source: SOURCE };
}

function neighborsOf(
  ...entries: readonly { readonly last: number; readonly mac: string; readonly state: string }[]
): readonly Neighbor[] {
  const parsed = parseNeighbors(
    JSON.stringify(
      entries.map(({ last, mac, state }) => ({ dst: `192.168.50.${last}`, dev: "eth0", lladdr: mac, state: [state] })),
    ),
  );
  if (!parsed.ok) throw new Error("the test's own table is not readable");
  return parsed.value;
}

describe("asking who has an address", () => {
  function setUp(table: readonly Neighbor[] = []) {
    const clock = createFakeClock(0);
    const commands = createScriptedCommands();
    commands.on(["ip"], {});
    commands.on(["arping", "-h"], IPUTILS);
    commands.on(["arping", "-b"], { status: 1 });
    const provoked: string[] = [];
    const prober = createWireProber({
      commands,
      clock,
      neighbors: () => Promise.resolve(table),
      provoke: (source, addresses) => {
        provoked.push(`${source}: ${addresses.join(" ")}`);
        return Promise.resolve();
      },
    });
    const probe = async (targets: readonly WireTarget[]): Promise<Record<string, readonly string[]>> => {
      let results: Awaited<ReturnType<typeof prober.probe>> | null = null;
      const asking = prober.probe(targets, new AbortController().signal).then((answers) => (results = answers));
      while (results === null) {
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        await clock.advance(1000);
      }
      return Object.fromEntries((await asking).map(({ target: { address }, hardwareAddresses }) => [address, hardwareAddresses]));
    };
    return { commands, provoked, probe };
  }

  it("flushes what the kernel believed before, and asks it anew", async () => {
    const { commands, provoked, probe } = setUp(neighborsOf({ last: 9, mac: A, state: "REACHABLE" }));
    expect(await probe([target(9), target(10)])).toEqual({ "192.168.50.9": [A], "192.168.50.10": [] });
    const flush = commands.calls.find(({ argv }) => argv[0] === "ip");
    expect(flush?.input).toBe("neigh flush to 192.168.50.9 dev eth0\nneigh flush to 192.168.50.10 dev eth0\n");
    expect(provoked).toEqual(["192.168.50.1: 192.168.50.9 192.168.50.10"]);
  });

  it("hears by ARP whom the kernel does not hear, and a second holder", async () => {
    const { commands, probe } = setUp(neighborsOf({ last: 9, mac: A, state: "REACHABLE" }));
    commands.on(["arping", "-b", "-s", "0.0.0.0", "-c", "2", "-w", "2", "-I", "eth0", "192.168.50.9"], {
      stdout: `Unicast reply from 192.168.50.9 [${B.toUpperCase()}]  0.5ms\n`,
    });
    expect(await probe([target(9)])).toEqual({ "192.168.50.9": [A, B] });
  });

  it("does not believe a pinned entry", async () => {
    const { probe } = setUp(neighborsOf({ last: 9, mac: A, state: "PERMANENT" }));
    expect(await probe([target(9)])).toEqual({ "192.168.50.9": [] });
  });

  it("does without arping", async () => {
    const { commands, probe } = setUp(neighborsOf({ last: 9, mac: A, state: "STALE" }));
    commands.on(["arping"], "not-installed");
    commands.on(["arping", "-h"], "not-installed");
    expect(await probe([target(9)])).toEqual({ "192.168.50.9": [A] });
    expect(commands.calls.filter(({ argv }) => argv[0] === "arping")).toHaveLength(1);
  });

  it("asks for few at a time, and IPv6 by the kernel alone", async () => {
    const { commands, provoked, probe } = setUp();
    const six = { address: ipAddress("fd00::9"), interfaceName: "eth0", source: ipAddress("fd00::1") };
    const many = [six, ...Array.from({ length: BATCH }, (_, n) => target(n + 10))];
    expect(Object.keys(await probe(many))).toHaveLength(BATCH + 1);
    expect(provoked.map((line) => line.split(" ").length - 1)).toEqual([1, BATCH - 1, 1]);
    expect(commands.calls.filter(({ argv }) => argv[1] === "-b")).toHaveLength(BATCH);
  });

  it("asks nobody about nothing", async () => {
    const { commands, probe } = setUp();
    expect(await probe([])).toEqual({});
    expect(commands.calls).toEqual([]);
  });
});
