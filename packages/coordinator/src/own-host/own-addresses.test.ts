import { ipAddress, type IpAddress } from "@berth/core";
import { createLog, silentLog } from "@berth/host";
import { createFakeClock, createScriptedCommands } from "@berth/host/fakes";
import { describe, expect, it } from "vitest";
import { coordinatorConfigSchema } from "../config.js";
import { advertisedLink, listensEverywhere } from "./advertised-link.js";
import { createOwnAddresses, type OwnAddressesPorts } from "./own-addresses.js";

const IP = ["ip", "-json", "-details", "address"] as const;

function host(...cidrs: readonly string[]): { stdout: string } {
  const info = cidrs.map((cidr) => {
    const [local = "", length = ""] = cidr.split("/");
    return { family: local.includes(":") ? "inet6" : "inet", local, prefixlen: Number(length), scope: "global" };
  });
  return { stdout: JSON.stringify([{ ifindex: 2, ifname: "eth0", flags: ["UP", "LOWER_UP"], mtu: 1500, addr_info: info }]) };
}

function portsOf(change: Partial<OwnAddressesPorts> = {}) {
  const commands = createScriptedCommands();
  const clock = createFakeClock(0);
  const addresses: OwnAddressesPorts["addresses"] = { real: [], vips: [] };
  return {
    commands,
    clock,
    ports: { commands, clock, log: silentLog, addresses, isVirtual: () => false, onlyIpv4: false, ...change },
  };
}

describe("own addresses", () => {
  it("are the real ones, never a virtual one, whether by looks, by configuration or by what racks showed", async () => {
    const shown = ipAddress("10.0.0.8");
    const named = ipAddress("10.0.0.7");
    const { commands, ports } = portsOf({ addresses: { real: [], vips: [named] }, isVirtual: (address) => address === shown });
    commands.on(IP, host("10.0.0.10/24", "10.0.0.9/32", "10.0.0.8/24", "10.0.0.7/24", "2001:db8::10/64"));
    expect((await createOwnAddresses(ports)).list()).toEqual(["10.0.0.10", "2001:db8::10"]);
    expect((await createOwnAddresses({ ...ports, onlyIpv4: true })).list()).toEqual(["10.0.0.10"]);
  });

  it("follow the host; what cannot be read leaves the last ones and is told once", async () => {
    const lines: string[] = [];
    const { commands, clock, ports } = portsOf({ log: createLog({ level: "warn", write: (line) => lines.push(line) }) });
    commands.on(IP, host("10.0.0.10/24"), { status: 1, stderr: "no" }, "not-installed", host("10.0.0.11/24"));
    const own = await createOwnAddresses(ports);
    const stop = new AbortController();
    const running = own.run(stop.signal);
    await clock.advance(16_000);
    await clock.advance(15_000);
    expect([own.list(), lines.length]).toEqual([["10.0.0.10"], 1]);
    await clock.advance(15_000);
    expect(own.list()).toEqual(["10.0.0.11"]);
    stop.abort();
    await running;
  });

  it("must be there at the start", async () => {
    const { commands, ports } = portsOf();
    commands.on(IP, host("127.0.0.1/8"));
    await expect(createOwnAddresses({ ...ports, isVirtual: () => true })).rejects.toMatchObject({ code: "own-address-missing" });
    commands.on(IP, { stdout: "{" });
    await expect(createOwnAddresses(ports)).rejects.toMatchObject({ code: "own-addresses-unreadable" });
  });
});

describe("what agents are told to dial", () => {
  const own: IpAddress[] = [ipAddress("10.0.0.10"), ipAddress("2001:db8::10")];
  const link = (listen: string, advertise: readonly string[] = []) =>
    coordinatorConfigSchema.parse({ link: { listen, advertise } });

  it.each([
    ["0.0.0.0:7481", [], true, ["10.0.0.10:7481", "[2001:db8::10]:7481"]],
    ["[::]:7481", [], true, ["10.0.0.10:7481", "[2001:db8::10]:7481"]],
    ["[::]:7481", ["region.example:99"], false, ["region.example:99"]],
    ["10.0.0.3:7481", [], false, ["10.0.0.3:7481"]],
  ])("with %s and %j", (listen, advertise, everywhere, told) => {
    expect(listensEverywhere(link(listen, advertise))).toBe(everywhere);
    expect(advertisedLink(link(listen, advertise), own)).toEqual(told);
  });
});
