import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Host } from "./host.js";
import { startDhcpd, startNamed } from "./lab-daemons.js";
import { createLab, type Lab } from "./lab.js";
import type { Link } from "./link.js";
import { listNamespaces, processesIn } from "./namespaces.js";
import { isAlive } from "./process-state.js";
import { strangerMac } from "./raw-dhcp-client.js";
import { findTool, requireTools } from "./require-tools.js";
import { labEnvironment, reapStaleLabs } from "./run-directory.js";
import { runOrThrow } from "./run-program.js";
import { Running } from "./running.js";
import { waitUntil } from "./wait-until.js";

const DHCPD_CONF = `authoritative; ping-check false; default-lease-time 600; max-lease-time 600;
option domain-name-servers 192.168.50.1; option domain-name "rack1.example"; option routers 192.168.50.1;
subnet 192.168.50.0 netmask 255.255.255.0 { range 192.168.50.100 192.168.50.199; }
host fixed { hardware ethernet 02:53:00:00:ff:01; fixed-address 192.168.50.7; option host-name "fixed"; }
`;

const ZONE = `$TTL 300
@ IN SOA ns hostmaster 1 600 60 86400 60
@ IN NS ns
ns IN A 192.168.50.1
node1 IN A 192.168.50.7
node1 IN A 192.168.50.8
`;

beforeAll(() => requireTools(["ip", "dhcpd", "dhclient", "udhcpc", "named", "dig", "ping", "gcc"]));

describe("one rack with real daemons", () => {
  let lab: Lab;
  let link: Link;
  let rack: Host;

  beforeAll(async () => {
    lab = await createLab({ name: "lab.test" });
    link = await lab.addLink("rack1");
    rack = await lab.addRack("rack1");
    await rack.connect(link, { addresses: ["192.168.50.1/24"] });
    expect(statSync(rack.directory).mode & 0o777).toBe(0o755);
    expect(statSync(dirname(lab.directory)).mode & 0o777).toBe(0o755);
    await startDhcpd(rack, DHCPD_CONF);
    await startNamed(rack, { "rack1.example": ZONE });
  });
  afterAll(() => lab.close());

  it("gives a machine with dhclient an address, and the same one after a reboot", async () => {
    const machine = await lab.addMachine("one", link);
    const bound = await (await machine.dhclient({ hostname: "one" })).waitForAddress();
    expect(bound).toMatchObject({
      reason: "BOUND",
      interfaceName: "eth0",
      serverId: "192.168.50.1",
      leaseSeconds: 600,
      routers: ["192.168.50.1"],
      nameServers: ["192.168.50.1"],
      domainName: "rack1.example",
    });
    expect(await machine.address()).toBe(bound.address);
    expect(await rack.ping(bound.address ?? "")).toBe(true);

    await machine.powerOff();
    expect(await machine.address()).toBeNull();
    expect(await rack.arping(bound.address ?? "")).toEqual([]);

    const again = await (await machine.reboot({ leaseFile: "keep" })).waitForAddress();
    expect([again.reason, again.address]).toEqual(["REBOOT", bound.address]);
    const fresh = await (await machine.reboot({ leaseFile: "wipe" })).waitForAddress();
    expect([fresh.reason, fresh.address]).toEqual(["BOUND", bound.address]);
    expect(machine.client().running.lines.join("\n")).toContain("DHCPDISCOVER");
  });

  it("gives a machine with udhcpc an address", async () => {
    const machine = await lab.addMachine("two", link, { mac: "02:53:00:00:ff:01" });
    const bound = await (await machine.udhcpc()).waitForAddress();
    expect(bound).toMatchObject({ address: "192.168.50.7", mask: "24", serverId: "192.168.50.1", hostName: "fixed" });
    expect(await machine.address()).toBe("192.168.50.7");
    expect(await machine.ping("192.168.50.1")).toBe(true);
  });

  it("answers DNS questions asked from a machine, many in one go", async () => {
    const machine = await lab.addMachine("asker", link);
    await machine.ip("address", "add", "192.168.50.20/24", "dev", "eth0");
    const answer = await machine.query("node1.rack1.example", "A", "192.168.50.1");
    expect(answer.rcode).toBe("NOERROR");
    expect(answer.flags).toContain("aa");
    expect([...answer.values].sort()).toEqual(["192.168.50.7", "192.168.50.8"]);
    const all = await machine.queryAll(
      [
        { name: "nobody.rack1.example", type: "A" },
        { name: "ns.rack1.example", type: "A" },
        { name: "ns.elsewhere.example", type: "A" },
      ],
      "192.168.50.1",
    );
    expect(all.map((a) => [a.rcode, ...a.values])).toEqual([["NXDOMAIN"], ["NOERROR", "192.168.50.1"], ["REFUSED"]]);
    expect((await machine.query("node1.rack1.example", "A", "192.168.50.99")).rcode).toBe("TIMEOUT");
  });

  it("speaks as a stranger: offer, renewal, reboot, refusal, release, decline", async () => {
    const raw = await (await lab.addMachine("stranger", link)).rawDhcp();
    const stranger = {
      mac: strangerMac(1),
      clientId: "ff00112233",
      hostname: "x{y};z",
      vendorClass: "PXEClient",
      architecture: 7,
    };
    const { offer, reply, address } = await raw.dora(stranger, { requested: "192.168.50.150" });
    expect(address).toBe("192.168.50.150");
    expect(reply).toMatchObject({ type: "ACK", serverId: "192.168.50.1", leaseSeconds: 600, mask: "255.255.255.0" });
    if (offer === null) throw new Error("no offer");
    expect((await raw.renew(stranger, "192.168.50.150", { server: offer })).address).toBe("192.168.50.150");
    expect((await raw.renew(stranger, "192.168.50.150")).address).toBe("192.168.50.150");
    expect((await raw.reboot(stranger, "192.168.50.150")).address).toBe("192.168.50.150");
    expect((await raw.reboot(stranger, "192.168.77.1")).reply?.type).toBe("NAK");
    expect((await raw.offers({ mac: strangerMac(3) }, 200)).map((o) => o.serverId)).toEqual(["192.168.50.1"]);

    raw.release(stranger, "192.168.50.150", offer);
    raw.decline({ mac: strangerMac(2) }, (await raw.dora({ mac: strangerMac(2) })).address ?? "", offer);
    const log = (): Promise<string> => rack.runOrThrow(["cat", rack.path("dhcpd-eth0.log")]);
    await waitUntil(log, {
      describe: "both in dhcpd's log",
      until: (t) => t.includes("DHCPRELEASE of") && t.includes("DHCPDECLINE of"),
    });
    await raw.close();
  });

  it("answers ARP and ping for the addresses of strangers, unless told not to", async () => {
    const raw = await (await lab.addMachine("holder", link)).rawDhcp();
    const open = { mac: strangerMac(20) };
    const walled = { mac: strangerMac(21), answers: "arp" as const };
    const mute = { mac: strangerMac(22), answers: "nothing" as const };
    raw.squat(open, "192.168.50.50");
    raw.squat(walled, "192.168.50.51");
    raw.squat(mute, "192.168.50.52");
    expect(await rack.arping("192.168.50.50")).toEqual([open.mac]);
    expect(await rack.arping("192.168.50.51")).toEqual([walled.mac]);
    expect(await rack.arping("192.168.50.52", { waitMs: 200 })).toEqual([]);
    expect(await rack.ping("192.168.50.50")).toBe(true);
    expect(await rack.ping("192.168.50.51")).toBe(false);
    expect((await rack.neighbours()).find((n) => n.address === "192.168.50.50")?.mac).toBe(open.mac);
    raw.powerOff(open);
    expect(await rack.arping("192.168.50.50", { waitMs: 200 })).toEqual([]);
    await raw.close();
  });

  it("lets a hundred strangers and more boot at once", async () => {
    const raw = await (await lab.addMachine("crowd", link)).rawDhcp();
    const macs = Array.from({ length: 150 }, (_, n) => strangerMac(1000 + n));
    const results = await raw.each(macs, (mac) => raw.dora({ mac }, { waitMs: 2_500, attempts: 1 }), macs.length);
    const given = results.flatMap((r) => (r.address === null ? [] : [r.address]));
    expect(new Set(given).size).toBe(given.length);
    expect(given.length).toBeGreaterThan(90); // the pool has a hundred, the tests above hold a few
    expect(given.length).toBeLessThanOrEqual(100);
    await raw.close();
  });

  it("tells the program's last words when a line does not come", async () => {
    const running = await rack.spawn(["sh", "-c", "echo ready; exec sleep 60"]);
    expect(await running.waitForLine("ready")).toBe("ready");
    await expect(running.waitForLine("never", { deadlineMs: 50 })).rejects.toThrow(
      /50 ms passed before a line never; last lines:\nready/,
    );
    expect(await running.stop()).toEqual({ status: null, signal: "SIGTERM" });
    expect(running.isRunning).toBe(false);
    const failing = await rack.spawn(["sh", "-c", "echo sorry >&2; exit 3"]);
    await expect(failing.waitForLine("ready")).rejects.toThrow(/ended with 3.*\nsorry/s);
    expect((await rack.run(["sleep", "60"], { timeoutMs: 50 })).timedOut).toBe(true);
  });
});

describe("cables", () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab({ name: "lab.test cables" });
  });
  afterAll(() => lab.close());

  it("routes between regions and racks, and cuts and joins them", async () => {
    const region = await lab.addRegion("region1");
    const rack = await lab.addRack("rack1");
    const rackAddress = (await rack.address("mgmt0")) ?? "";
    expect(await region.ping(rackAddress)).toBe(true);
    await rack.cutOff();
    expect(await region.ping(rackAddress)).toBe(false);
    expect(await rack.ip("link", "show", "mgmt0")).toContain("LOWER_UP");
    await rack.rejoin();
    expect(await region.ping(rackAddress, { count: 5 })).toBe(true);
    await rack.port("mgmt0").unplug();
    expect(await rack.ip("link", "show", "mgmt0")).toContain("NO-CARRIER");
    expect(await region.ping(rackAddress)).toBe(false);
    await rack.port("mgmt0").plug();
    await waitUntil(() => region.ping(rackAddress), { describe: "the rack answers again" });
  });

  it("loses and delays frames", async () => {
    const link = await lab.addLink("bad");
    const [a, b] = [await lab.addHost("a"), await lab.addHost("b")];
    await a.connect(link, { addresses: ["10.9.0.1/24"] });
    await b.connect(link, { addresses: ["10.9.0.2/24"] });
    const ping = async (): Promise<{ received: number; fastestMs: number }> => {
      const { stdout } = await a.run(["ping", "-n", "-q", "-c", "100", "-i", "0.01", "-W", "1", "10.9.0.2"]);
      return { received: Number(/(\d+) received/.exec(stdout)?.[1]), fastestMs: Number(/= ([0-9.]+)\//.exec(stdout)?.[1]) };
    };
    expect((await ping()).received).toBe(100);
    await b.port().impair({ lossPercent: 30 });
    const lossy = await ping();
    expect(lossy.received).toBeGreaterThan(20); // 49 of 100 come back on average
    expect(lossy.received).toBeLessThan(80);
    await b.port().impair({ delayMs: 20 });
    const slow = await ping();
    expect(slow.received).toBe(100);
    expect(slow.fastestMs).toBeGreaterThanOrEqual(40);
    // TCP with its offloads must cross as well.
    const count = `let octets = 0;
      const server = require("node:net").createServer((socket) => {
        socket.on("data", (chunk) => (octets += chunk.length));
        socket.on("end", () => process.exit(octets === 3_000_000 ? 0 : 1));
      });
      server.listen(9000, () => console.log("ready"));`;
    const server = await b.spawn([process.execPath, "-e", count]);
    await server.waitForLine("ready");
    const send = `require("node:net").connect(9000, "10.9.0.2").end(Buffer.alloc(3_000_000));`;
    const sent = await a.run([process.execPath, "-e", send]);
    expect([sent.status, (await server.exited).status]).toEqual([0, 0]);
    await b.port().impair({});
    expect(await ping()).toMatchObject({ received: 100 });
  });
});

describe("labs side by side, and what they leave", () => {
  const labsDirectory = join(tmpdir(), "berth-lab");
  const directories = (): string[] => (existsSync(labsDirectory) ? readdirSync(labsDirectory) : []);
  const script = fileURLToPath(new URL("programs/lab-owner.ts", import.meta.url));
  const root = fileURLToPath(new URL("../..", import.meta.url));

  /** Another process that makes a lab, starts a program in it, prints one line of JSON and waits, or ends as it is told. */
  async function startOwner(how: "wait" | "throw"): Promise<{ owner: Running; id: string; pid: number }> {
    const owner = await Running.start(["node", "--import", "tsx", script, how], { cwd: root });
    const line = await owner.waitForLine(/^\{/, { deadlineMs: 30_000 });
    return { owner, ...(JSON.parse(line) as { id: string; pid: number }) };
  }
  const namespacesOf = (id: string): string[] => listNamespaces().filter((name) => name.includes(id));

  it("keeps two labs with the same addresses apart and removes all of both", async () => {
    const labs = await Promise.all([createLab(), createLab()]);
    const [first, second] = labs;
    expect(first.id).not.toBe(second.id);
    const given = await Promise.all(
      labs.map(async (lab) => {
        const link = await lab.addLink("rack1");
        const rack = await lab.addRack("rack1");
        await rack.connect(link, { addresses: ["192.168.50.1/24"] });
        await startDhcpd(rack, DHCPD_CONF);
        const machine = await lab.addMachine("one", link);
        return (await (await machine.dhclient()).waitForAddress()).address;
      }),
    );
    expect(given).toEqual(["192.168.50.100", "192.168.50.100"]);
    const pids = labs.map((lab) => processesIn(namespacesOf(lab.id)));
    expect(pids.map((p) => p.length)).toEqual([2, 2]);
    await first.close();
    expect(namespacesOf(first.id)).toEqual([]);
    expect(second.host("one").namespace).toBe(namespacesOf(second.id).find((n) => n.endsWith("-one")));
    expect(await second.host("one").ping("192.168.50.1")).toBe(true);
    await second.close();
    expect(pids.flat().filter(isAlive)).toEqual([]);
    expect(labs.flatMap((lab) => namespacesOf(lab.id))).toEqual([]);
    expect(directories().filter((id) => labs.some((lab) => lab.id === id))).toEqual([]);
  });

  it.each([
    ["SIGTERM", "wait", { status: null, signal: "SIGTERM" }],
    ["SIGINT", "wait", { status: null, signal: "SIGINT" }],
    [null, "throw", { status: 1, signal: null }],
  ] as const)("goes with its owner (signal %s, %s)", async (signal, how, exit) => {
    const { owner, id, pid } = await startOwner(how);
    if (signal !== null) owner.kill(signal);
    expect(await owner.exited).toEqual(exit);
    expect(isAlive(pid)).toBe(false);
    expect(namespacesOf(id)).toEqual([]);
    expect(directories()).not.toContain(id);
  });

  it("reaps the lab of an owner that was killed, and no other", async () => {
    const mine = await createLab();
    const { owner, id, pid } = await startOwner("wait");
    expect(reapStaleLabs()).not.toContain(id);
    owner.kill("SIGKILL");
    await owner.exited;
    expect(isAlive(pid)).toBe(true);
    expect(namespacesOf(id)).not.toEqual([]);
    expect(reapStaleLabs()).toContain(id); // others on this machine may die as well
    expect(isAlive(pid)).toBe(false);
    expect(namespacesOf(id)).toEqual([]);
    expect(directories()).not.toContain(id);
    expect(namespacesOf(mine.id)).not.toEqual([]);
    await mine.close();
  });

  it("removes what an owner left that died while it claimed or removed its lab", async () => {
    const mine = await createLab();
    const [old, young] = [join(labsDirectory, "00000"), join(labsDirectory, ".claim-young")];
    for (const directory of [old, young]) mkdirSync(directory, { recursive: true });
    utimesSync(old, 0, 0);
    expect(reapStaleLabs()).toContain("00000");
    expect(existsSync(old)).toBe(false);
    expect(existsSync(young)).toBe(true);
    rmdirSync(young);
    await mine.close();
  });

  it("ends a program that has not entered its namespace yet", async () => {
    const lab = await createLab();
    const { pid } = await Running.start(["sleep", "300"], { env: labEnvironment(lab.id) });
    expect(processesIn(namespacesOf(lab.id))).not.toContain(pid);
    await lab.close();
    expect(isAlive(pid)).toBe(false);
  });

  it("makes and closes many labs at once", async () => {
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const lab = await createLab();
        await lab.addHost("one");
        await lab.close();
        return lab.id;
      }),
    );
    expect(new Set(ids).size).toBe(8);
    expect(ids.flatMap((id) => namespacesOf(id))).toEqual([]);
  });

  it("has nothing in the host's own namespace and leaves its resolv.conf alone", async () => {
    const interfaces = async (): Promise<string> => runOrThrow(["ip", "-br", "link"]);
    const resolvConf = readFileSync("/etc/resolv.conf", "utf8");
    const before = await interfaces();
    const lab = await createLab();
    const link = await lab.addLink("rack1");
    const rack = await lab.addRack("rack1");
    await rack.connect(link, { addresses: ["192.168.50.1/24"] });
    await startDhcpd(rack, DHCPD_CONF);
    await (await (await lab.addMachine("one", link)).dhclient()).waitForAddress();
    await (await (await lab.addMachine("two", link)).udhcpc()).waitForAddress();
    expect(await interfaces()).toBe(before);
    await lab.close();
    expect(await interfaces()).toBe(before);
    expect(readFileSync("/etc/resolv.conf", "utf8")).toBe(resolvConf);
  });
});

describe("waiting and requirements", () => {
  it("returns the state waited for, and shows the last one when it gives up", async () => {
    let n = 0;
    expect(await waitUntil(() => ++n, { describe: "three", until: (x) => x === 3, everyMs: 1 })).toBe(3);
    const never = waitUntil(() => ({ leases: 2 }), { describe: "five leases", until: (s) => s.leases === 5, deadlineMs: 20 });
    await expect(never).rejects.toThrow("waited 20 ms for: five leases; last seen: { leases: 2 }");
    const failing = waitUntil(() => Promise.reject(new Error("no route")), { describe: "an answer", deadlineMs: 20 });
    await expect(failing).rejects.toThrow("last seen: no route");
  });

  it("names the programs that are missing and the Debian packages that bring them", () => {
    const onlyIp = (name: string): string | null => (name === "ip" ? "/sbin/ip" : null);
    expect(() => requireTools(["ip", "dhcpd", "rndc", "named"], onlyIp)).toThrow(
      "not installed: dhcpd, rndc, named; on Debian: apt-get install -y --no-install-recommends bind9 isc-dhcp-server",
    );
    expect(() => requireTools(["ip", "dhcpd"])).not.toThrow();
    expect(findTool("no-such-program-here")).toBeNull();
  });
});
